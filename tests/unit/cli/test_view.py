"""The table of `lws up`: as high and wide as the terminal, whatever it was before."""

import os

from lws.cli.view import GroupLine, Screen, table_of


def line(number: int, leader: str = "ready", workers: str = "1/1") -> GroupLine:
    return GroupLine(f"vllm-{number}", leader, workers, "abc", 0)


def size(columns: int, lines: int) -> os.terminal_size:
    return os.terminal_size((columns, lines))


def test_all_groups_are_shown_where_they_fit() -> None:
    assert table_of([line(0), line(10)], 3) == [
        "GROUP    LEADER  WORKERS  REVISION  RESTARTS",
        "vllm-0   ready   1/1      abc       0",
        "vllm-10  ready   1/1      abc       0",
    ]
    assert table_of([], 5) == []


def test_where_they_do_not_fit_those_that_are_not_ready_come_first_and_the_rest_is_counted() -> (
    None
):
    lines = [line(number) for number in range(100)]
    lines[70], lines[80] = line(70, "pending"), line(80, workers="0/1")
    table = table_of(lines, 6)
    assert [row.split()[0] for row in table] == [
        "GROUP",
        "vllm-70",
        "vllm-80",
        "vllm-0",
        "vllm-1",
        "and",
    ]
    assert table[-1] == "and 96 more; 98 of 100 groups are ready"


def test_what_is_shown_already_is_not_drawn_again() -> None:
    screen = Screen(["head"])
    first = screen.drawn([line(0)], size(80, 24))
    assert first.count("\n") == 2
    assert "\x1b" not in first
    assert screen.drawn([line(0)], size(80, 24)) == ""
    assert screen.drawn([line(0, "ending")], size(80, 24)).startswith("\x1b[2F\x1b[J")


def test_a_terminal_of_another_size_is_drawn_anew_with_its_head() -> None:
    screen = Screen(["head"])
    screen.drawn([line(number) for number in range(30)], size(80, 24))
    text = screen.drawn([line(number) for number in range(30)], size(20, 8))
    assert text.startswith("\x1b[H\x1b[2J\x1b[3Jhead\n")
    rows = text.removeprefix("\x1b[H\x1b[2J\x1b[3J").splitlines()
    assert len(rows) < 8
    assert max(map(len, rows)) <= 20
    assert any(row.endswith("…") for row in rows)


def test_groups_that_go_leave_an_empty_place() -> None:
    screen = Screen([])
    screen.drawn([line(0)], size(80, 24))
    assert screen.drawn([], size(80, 24)) == "\x1b[2F\x1b[J"
