"""The map on dask's threads: order, threads, errors."""

from __future__ import annotations

import threading
import time

import dask
import numpy as np
import pytest

from napari_cosparse.core.mapping import once
from napari_cosparse.tiles import Cancelled, threaded_map


@pytest.mark.parametrize("threads", [1, 2, None])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_items(threads, count):
    def square(item):
        time.sleep(0.001 * (item % 3))  # later items may finish first
        return item**2

    assert list(threaded_map(threads)(square, range(count))) == [i**2 for i in range(count)]


def test_items_may_come_from_a_generator_and_be_anything():
    items = [np.arange(3), None, "text", (1, 2), [3], {"a": 4}]
    found = threaded_map(2)(lambda item: item, (item for item in items))
    assert all(a is b for a, b in zip(found, items, strict=True))


def test_single_item_of_a_generator_is_not_lost():
    assert list(threaded_map(2)(lambda item: item + 1, (item for item in [1]))) == [2]


def test_two_threads_run_at_the_same_time():
    both = threading.Barrier(2, timeout=20)  # one thread alone would wait in vain

    def meet(item):
        both.wait()
        return threading.get_ident()

    first, second = threaded_map(2)(meet, range(2))
    assert first != second


def test_number_of_threads_is_kept():
    lock, running, most = threading.Lock(), 0, 0

    def work(item):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1

    list(threaded_map(2)(work, range(20)))
    assert most == 2
    most = 0
    list(threaded_map(1)(work, range(5)))
    assert most == 1


def test_calls_run_in_threads_whatever_scheduler_is_the_users():
    with dask.config.set(scheduler="sync"):
        names = list(threaded_map(2)(lambda _: threading.current_thread().name, range(4)))
    assert threading.main_thread().name not in names


def test_error_of_a_call_is_the_callers():
    def fail(item):
        if item == 3:
            raise KeyError("tile 3")
        return item

    with pytest.raises(KeyError, match="tile 3"):
        list(threaded_map(2)(fail, range(5)))


def test_map_may_be_used_inside_itself():
    run = threaded_map(2)
    found = run(lambda row: sum(run(lambda item: item * row, range(4))), range(3))
    assert list(found) == [0, 6, 12]


def test_each_item_is_called_once():
    calls = []
    list(threaded_map(2)(calls.append, [7] * 10))
    assert calls == [7] * 10


@pytest.mark.parametrize("threads", [1, 2])
def test_a_flag_stops_the_map_before_the_next_call(threads):
    stop, calls = threading.Event(), []

    def work(item):
        calls.append(item)
        if item == 3:
            stop.set()

    with pytest.raises(Cancelled):
        threaded_map(threads, stop.is_set)(work, range(100))
    assert len(calls) < 100
    with pytest.raises(Cancelled):
        threaded_map(threads, stop.is_set)(work, [0])


def test_an_error_stops_the_other_threads():
    seen = []

    def work(item):
        if item == 0:
            raise KeyError("first")
        time.sleep(0.02)
        seen.append(item)

    with pytest.raises(KeyError, match="first"):
        threaded_map(2)(work, range(80))
    before = len(seen)
    time.sleep(0.2)
    assert len(seen) - before <= 1
    assert before < 70


def test_long_call_is_left_behind_when_told_to_stop():
    stop, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def long():
        stop.set()
        go_on.wait(20)
        ended.set()

    with pytest.raises(Cancelled):
        once(threaded_map(1, stop.is_set), long)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(20)


@pytest.mark.parametrize("cancelled", [None, lambda: False])
def test_long_call_returns_and_raises_as_if_it_were_called(cancelled):
    map_ = threaded_map(2, cancelled)
    assert once(map_, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        once(map_, divmod, 7, 0)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        once(map_, np.sqrt, -np.ones(3))


def test_no_long_call_is_begun_when_told_to_stop():
    with pytest.raises(Cancelled):
        once(threaded_map(1, lambda: True), pytest.fail)
