"""Run folders that a URI names: `hdfs://…`, `s3a://…`, `file://…`, whatever Spark's Hadoop reads.

Spark reads the logs and writes the tables where the folder is. The driver works on a copy of the
files, fetched by Hadoop's FileSystem, and puts verdict and report beside the record in the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_eval.read.folder.run_folder import (
    EVALUATION,
    RunFolder,
    RunFolderError,
    UnreadableRecordError,
    open_run_folder,
    refuse_links,
)

ROWS = "evaluation/report.json"
LEFT = ("verdict.json", "junit.xml", "report.html", "evaluation/**/*")
PACKAGES = {"s3a": "org.apache.hadoop:hadoop-aws", "abfss": "org.apache.hadoop:hadoop-azure"}
UNKNOWN_SCHEME = ("ClassNotFoundException", "UnsupportedFileSystemException", "No FileSystem for")


def fetch(spark: SparkSession, uri: str, into: Path) -> RunFolder:
    """The run folder at `uri`, copied below `into`, which is empty. Raises RunFolderError."""
    copy = into / (PurePosixPath(uri).name or "run")
    try:
        for file in _files(spark, uri):
            if ".." in PurePosixPath(file).parts:
                raise RunFolderError(f"run folder {uri}: {file} lies outside", "remove it there")
            if file == ROWS or not file.startswith("evaluation/"):
                _copy(spark, f"{uri.rstrip('/')}/{file}", copy / file)
    except Py4JJavaError as error:
        raise _refused(spark, uri, str(error.java_exception)) from error
    (copy / "evaluation").mkdir(parents=True, exist_ok=True)
    return open_run_folder(copy, uri.rstrip("/"))


def send(spark: SparkSession, folder: RunFolder) -> None:
    """What the driver left in its copy, to where the folder is. Raises RunFolderError."""
    assert folder.uri is not None
    if folder.uri.startswith("file:"):  # the one place that it may be where links lead elsewhere
        refuse_links(Path(folder.root), *LEFT, EVALUATION, f"{EVALUATION}/*")
    try:
        for file in (file for name in LEFT for file in folder.path.glob(name) if file.is_file()):
            target = _path(spark, str(folder.place(file)))
            _system(spark, target).copyFromLocalFile(
                False, True, _path(spark, f"file://{file}"), target
            )
    except Py4JJavaError as error:
        raise _refused(spark, folder.uri, str(error.java_exception)) from error


def _files(spark: SparkSession, uri: str) -> Iterator[str]:
    """Relative to the folder."""
    top = _path(spark, uri)
    system = _system(spark, top)
    root = system.makeQualified(top).toUri().getPath()
    listed = system.listFiles(top, True)
    while listed.hasNext():
        yield listed.next().getPath().toUri().getPath()[len(root) :].lstrip("/")


def _copy(spark: SparkSession, source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path = _path(spark, source)
    # raw: without a checksum file beside it
    _system(spark, path).copyToLocalFile(False, path, _path(spark, f"file://{target}"), True)


def _path(spark: SparkSession, uri: str) -> Any:
    return _jvm(spark).org.apache.hadoop.fs.Path(uri)


def _jvm(spark: SparkSession) -> Any:
    return spark._jvm


def _system(spark: SparkSession, path: Any) -> Any:
    return path.getFileSystem(spark._jsc.hadoopConfiguration())


def _refused(spark: SparkSession, uri: str, said: str) -> RunFolderError:
    scheme = uri.partition("://")[0]
    if any(word in said for word in UNKNOWN_SCHEME):
        version = _jvm(spark).org.apache.hadoop.util.VersionInfo.getVersion()
        package = PACKAGES.get(scheme, f"the package of {scheme}")
        hint = (
            f"PYSPARK_SUBMIT_ARGS='--packages {package}:{version} pyspark-shell', or spark-submit"
        )
        return RunFolderError(f"run folder {uri}: this Spark has no file system {scheme}", hint)
    if "FileNotFoundException" in said:
        return RunFolderError(f"run folder {uri}: no such folder", "name a run folder by its URI")
    cause = f"run folder {uri}: {said.splitlines()[0]}"
    return UnreadableRecordError(cause, "see that Spark may read and write there")
