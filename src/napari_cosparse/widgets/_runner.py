"""Run a long computation in a worker thread, with progress and cancel."""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from threading import Event
from typing import Any

from napari.qt.threading import GeneratorWorker, create_worker
from qtpy.QtCore import QObject, QTimer, Signal  # type: ignore[attr-defined]

from napari_cosparse.core.progress import Progress
from napari_cosparse.tiles import Cancelled

Steps = Callable[[], Generator[Progress, None, Any]]

PATIENCE = 10.0  # seconds that closing waits for the step being computed
PAUSE = 0.1  # seconds between two reports of progress
DRAW = 300  # milliseconds between two drawings: each takes napari's window up to 40 of a core
DRAWN = 20  # milliseconds: the window shows that a run begins before a worker takes the machine


@dataclass(frozen=True)
class Failure:
    """A computation that raised, as a value.

    A worker that dies of a RuntimeError never reports that it finished, so nothing may escape.

    Attributes
    ----------
    error : Exception
        What was raised.
    """

    error: Exception


def guarded(steps: Steps, stop: Event) -> Generator[list[Progress], None, Any]:
    """Run the steps and return their result, or what they raised as a `Failure`.

    Parameters
    ----------
    steps : callable
        Makes the generator of `Progress`; called in the worker thread.
    stop : threading.Event
        Ends the run after the present step. Then the generator is closed, so that it can put away
        what it has opened, and None is returned.

    Yields
    ------
    list of Progress
        Steps since the last time; a new stage at once, else ten times a second, so that the
        window has time for other things.
    """
    try:
        run = steps()
        waiting: list[Progress] = []
        told, stage = -PAUSE, None
        while True:
            try:
                progress = next(run)
            except StopIteration as end:
                if waiting:
                    yield waiting
                return end.value
            waiting.append(progress)
            now = time.monotonic()
            if now - told >= PAUSE or progress.stage != stage or stop.is_set():
                told, stage = now, progress.stage
                yield waiting
                waiting = []
            if stop.is_set():
                run.close()
                return None
    except Cancelled:
        return None
    except Exception as error:  # noqa: BLE001 it is handed to the main thread, not swallowed
        return Failure(error)


class Runner(QObject):
    """One computation at a time, in a worker thread; every signal arrives in the main thread.

    napari's own progress bar is not used: its moving picture draws the whole window anew, which
    costs a second of a short run, and ends napari (0.9, software rendering) with a segmentation
    fault if a layer has just been deleted.

    Attributes
    ----------
    stepped : Signal of Progress
        Every step, a few of them at once.
    told : Signal
        After a few steps, thrice a second at most: the time to draw.
    succeeded : Signal of object
        The result.
    failed : Signal of Exception
        What was raised.
    cancelled : Signal
        The computation stopped because it was asked to.
    """

    stepped = Signal(object)
    told = Signal()
    succeeded = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Make a runner that does nothing yet."""
        super().__init__(parent)
        self._worker: GeneratorWorker | None = None
        self._begin = QTimer(self)
        self._begin.setSingleShot(True)
        self._begin.setInterval(DRAWN)
        self._begin.timeout.connect(self._set_off)
        self._draw = QTimer(self)
        self._draw.setSingleShot(True)
        self._draw.setInterval(DRAW)
        self._draw.timeout.connect(self._tell)
        self._waiting = False  # for the time to draw
        self._run: Generator[list[Progress], None, Any] | None = None
        self._result: object = None
        self._stop = Event()

    @property
    def told_to_stop(self) -> Callable[[], bool]:
        """Asked by the computation, as often as it likes: whether this run is to stop."""
        return self._stop.is_set

    @property
    def running(self) -> bool:
        """Whether a computation has begun and has not yet ended."""
        return self._worker is not None

    def start(self, steps: Steps) -> None:
        """Begin a computation, as soon as the event loop has come round.

        At once the worker and the main thread would fight for Python's lock while the window
        shows that the run begins, and whatever the user does then would wait for both.

        Parameters
        ----------
        steps : callable
            Makes the generator; called in the worker thread.
        """
        if self.running:
            return
        self._result = None
        run = self._run = guarded(steps, self._stop)

        def relay() -> Generator[list[Progress], None, Any]:
            return (yield from run)  # so that it can be closed here, whoever stops the worker

        self._worker = create_worker(relay)
        self._worker.yielded.connect(self._on_step)
        self._worker.returned.connect(self._on_return)
        self._worker.finished.connect(self._on_finish)
        self._begin.start()

    def cancel(self) -> None:
        """Ask the computation to stop as soon as it can."""
        self._stop.set()

    def close(self) -> None:
        """Stop, and wait for the step being computed; no signal is sent any more."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        self._begin.stop()
        worker.yielded.disconnect(self._on_step)
        worker.returned.disconnect(self._on_return)
        worker.finished.disconnect(self._on_finish)
        self._end()
        end = time.monotonic() + PATIENCE
        while worker.is_running and time.monotonic() < end:
            time.sleep(0.005)
        if not worker.is_running:
            self._put_away()

    def _set_off(self) -> None:
        if self._worker is not None:
            self._worker.start()

    def _on_step(self, steps: list[Progress]) -> None:
        for progress in steps:
            self.stepped.emit(progress)
        self._waiting = True
        if not self._draw.isActive():
            self._tell()

    def _tell(self) -> None:
        """Draw what waits, and nothing again for a while: the worker needs the machine."""
        if self._waiting:
            self._waiting = False
            self._draw.start()
            self.told.emit()

    def _on_return(self, result: object) -> None:
        self._result = result

    def _on_finish(self) -> None:
        """Say how it ended: the one place that leaves the running state."""
        self._tell()
        result, self._result, self._worker = self._result, None, None
        self._end()
        self._put_away()
        if isinstance(result, Failure):
            self.failed.emit(result.error)
        elif result is None:
            self.cancelled.emit()
        else:
            self.succeeded.emit(result)

    def _put_away(self) -> None:
        """Let a run that was stopped from outside, as napari does when closed, clear up."""
        run, self._run = self._run, None
        if run is not None:
            run.close()

    def _end(self) -> None:
        """Stop what still runs, and be ready for another run."""
        self._draw.stop()
        self._waiting = False
        self._stop.set()
        self._stop = Event()
