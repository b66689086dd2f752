"""Tests of what claims of histories ask more than their twins among the tables."""

from tests.spark_eval.claims.conftest import ask as ask
