"""Ctrl-C, from the first import to the exit code. Takes nothing but the standard library: it comes first."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import Any

INTERRUPTED = 130
AGAIN = 0.05  # seconds until an interrupt that was swallowed is sent again
LOADING = "Interrupted while symclust was being loaded: nothing was computed or written.\n"
WRITING = "\nInterrupted: what was found is still being written; Ctrl-C again ends that, too.\n"


class Interrupts:
    """The effect of Ctrl-C at each stage of a command.

    - While libraries are loaded, the process ends at once: an exception inside the import of compiled code
      may come out as any other one, or not at all.
    - At work, `KeyboardInterrupt` is raised.
    - While results are written, the first Ctrl-C of a run changes nothing but the exit code; a second one is
      raised, and ends the writing.
    - While the end is being said, nothing; afterwards, a process that hangs ends with the code that was said.

    `count` is the number of times Ctrl-C was pressed, also if another library has swallowed it.
    """

    def __init__(self) -> None:
        self.count = 0
        self._stage = self._end_loading
        self._code = INTERRUPTED

    def take_over(self) -> None:
        """Begin: the libraries are being loaded. A process that ignores Ctrl-C goes on to do so."""
        self.__init__()  # type: ignore[misc]
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self)
            sys.unraisablehook = self._send_again
            # The last of the process is Python's own clean-up, which can be neither ended nor explained.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)

    def begin_work(self) -> None:
        self._stage = self._raise

    def begin_writing(self) -> None:
        self._stage = self._put_off

    def begin_end(self) -> None:
        self._stage = self._ignore

    def end(self, code: int) -> None:
        self._code, self._stage = code, self._leave

    def __call__(self, *_: Any) -> None:
        """Handle the signal."""
        self.count += 1
        self._stage()

    def _end_loading(self) -> None:
        os.write(2, LOADING.encode())
        self._leave()

    def _raise(self) -> None:
        raise KeyboardInterrupt

    def _put_off(self) -> None:
        if self.count > 1:
            raise KeyboardInterrupt
        os.write(2, WRITING.encode())

    def _ignore(self) -> None:
        pass

    def _leave(self) -> None:
        os._exit(self._code)

    def _send_again(self, lost: Any) -> None:
        """Send an interrupt again that hit a destructor or a callback of the interpreter and ended there."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
            return
        self.count -= 1
        again = threading.Timer(AGAIN, signal.raise_signal, (signal.SIGINT,))
        again.daemon = True
        again.start()


interrupts = Interrupts()
