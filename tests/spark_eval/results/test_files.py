"""How a counter-example reads."""

from spark_eval.judging.results import CounterExample
from spark_eval.results.files import example_text


def test_a_counter_example_names_the_lines_that_tell_it() -> None:
    told = CounterExample("first", "<m1> to u@x", 5, "lost", (("ledger.jsonl", 3), ("a/b.LOG", 7)))
    assert example_text(told) == "first: <m1> to u@x: lost (ledger.jsonl:3, a/b.LOG:7)"


def test_what_no_line_tells_has_no_brackets() -> None:
    missing = CounterExample("worst", "expect.promotions of a", None, "none was seen", ())
    assert example_text(missing) == "worst: expect.promotions of a: none was seen"
