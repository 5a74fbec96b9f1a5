"""Long files come first, those that wait between those that compute, and none is left out."""

from tests.file_order import File, taking_turns

BROKER, SPARK, PLAIN = frozenset({"broker"}), frozenset({"spark", "parametrize"}), frozenset[str]()


def test_what_takes_longest_comes_first() -> None:
    assert taking_turns([File("a", PLAIN, 1.0), File("b", SPARK, 3.0), File("c", PLAIN, 20.0)]) == ["c", "b", "a"]


def test_files_that_wait_and_files_that_compute_take_turns() -> None:
    files = [File(f"broker {number}", BROKER, 30.0) for number in range(2)]
    files += [File(f"spark {number}", SPARK, 30.0) for number in range(4)]
    assert taking_turns(files) == ["spark 0", "broker 0", "spark 1", "spark 2", "broker 1", "spark 3"]


def test_a_file_with_a_broker_and_spark_waits() -> None:
    files = [File("both", BROKER | SPARK, 10.0), File("spark a", SPARK, 10.0), File("spark b", SPARK, 10.0)]
    assert taking_turns(files) == ["spark a", "both", "spark b"]


def test_files_that_never_ran_are_placed_by_their_markers() -> None:
    files = [File("plain", PLAIN), File("new spark", SPARK), File("slow", PLAIN, 40.0), File("quick", PLAIN, 3.0)]
    assert taking_turns(files) == ["slow", "new spark", "quick", "plain"]


def test_each_file_is_taken_once() -> None:
    files = [File(str(number), (BROKER, SPARK, PLAIN)[number % 3], number % 7 * 5.0 or None) for number in range(50)]
    assert sorted(taking_turns(files)) == sorted(file.name for file in files)
