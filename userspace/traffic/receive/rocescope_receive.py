# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""For Python programs that use what `rocescope receive --pin NAME` receives. docs/receive.md explains it.

    with Receiver("NAME") as r:
        for c in r.completions():
            work_on(c.array())          # in the receiver's memory: no copy
            if r.torn(c): ...           # it was overwritten meanwhile

As in rocescope_receive.h, which says more of everything here.
"""
import contextlib
import ctypes
import os

OLDEST, NO_POST = 1, 2
IMMEDIATE, SEND, INCOMPLETE, HEADLESS, LATE = 1, 2, 4, 8, 16
NOWHERE = ANY_BLOCK = 2**64 - 1

_POLL_MS = 100      # how often a program that waits looks for signals, and for the receiver's end


class _Completion(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), *((name, ctypes.c_uint64) for name in ("offset", "va", "receive", "time")),
                *((name, ctypes.c_uint32) for name in ("length", "placed", "immediate")), ("skipped", ctypes.c_int32),
                *((name, ctypes.c_uint32) for name in ("qpn", "first_psn", "last_psn", "flags")), ("reserved", ctypes.c_uint64 * 4)]


class _Missing(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class _Block(ctypes.Structure):
    _fields_ = [("number", ctypes.c_uint64), ("address", ctypes.c_void_p), ("bytes", ctypes.c_uint64),
                ("missing_bytes", ctypes.c_uint64), ("missing_count", ctypes.c_uint32), ("_missing", ctypes.POINTER(_Missing))]


def _library():
    """The file that the environment variable ROCESCOPE_RECEIVE names, or the system's."""
    library = ctypes.CDLL(os.environ.get("ROCESCOPE_RECEIVE", "librocescope_receive.so.0"), use_errno=True)
    pointer, u64, u32, number = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int
    for function, result, *arguments in (
            ("open", pointer, ctypes.c_char_p, u32), ("close", None, pointer), ("ended", number, pointer),
            ("error", ctypes.c_char_p, number),
            ("memory", pointer, pointer, ctypes.POINTER(u64)), ("next", number, pointer, ctypes.POINTER(_Completion), number),
            ("torn", number, pointer, ctypes.POINTER(_Completion)), ("post", None, pointer, ctypes.POINTER(_Completion)),
            ("lost", u64, pointer), ("blocks_new", pointer, pointer, u64, u64, u32, u64, u32), ("blocks_free", None, pointer),
            ("blocks_add", number, pointer, ctypes.POINTER(_Completion)),
            ("blocks_next", number, pointer, ctypes.POINTER(_Block), number), ("blocks_torn", number, pointer),
            ("blocks_late", u64, pointer)):
        call = getattr(library, "rocescope_" + function)
        call.restype, call.argtypes = result, arguments
    return library


_lib = _library()


def _failed(what):
    number = ctypes.get_errno()
    return OSError(number, _lib.rocescope_error(number).decode(), what)


class Completion(_Completion):
    """
    A message that has ended: offset, va, receive, time, length, placed, immediate, skipped, qpn, first_psn, last_psn, flags.
    """
    receiver = None

    @property
    def complete(self):
        return not self.flags & INCOMPLETE

    def array(self, dtype="uint8"):
        """The bytes that came, as a numpy array in the receiver's memory, which cannot be written."""
        return self.receiver.array(self.offset, self.placed, dtype) if self.address else self.receiver.array(0, 0, dtype)


class _Handle:
    """What a function of the library gave, until it gets it back. words: what it is."""

    def __init__(self, handle, give_back, words):
        self._open, self._give_back, self._words = handle, give_back, words

    def close(self):
        self._give_back(self._open)
        self._open = None

    @property
    def handle(self):
        if not self._open:
            raise ValueError(f"the {self._words} was closed")
        return self._open


class Receiver(_Handle):
    """
    flags: OLDEST, NO_POST. OSError: there is no such receiver, or it is not allowed. Arrays and `memory` must not be used after
    close(): that ends the process (SIGSEGV).
    """

    def __init__(self, name, flags=0):
        handle = _lib.rocescope_open(os.fsencode(name), flags)
        if not handle:
            raise _failed(name)
        super().__init__(handle, _lib.rocescope_close, "receiver")
        size = ctypes.c_uint64()
        self.address = _lib.rocescope_memory(self.handle, ctypes.byref(size))
        #: The receiver's memory: readable by whatever takes a buffer.
        self.memory = memoryview((ctypes.c_char * size.value).from_address(self.address)).cast("B").toreadonly()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def array(self, offset=0, size=None, dtype="uint8"):
        """A part of the memory as a numpy array: not a copy, and it cannot be written. size: bytes."""
        import numpy    # pylint: disable=import-outside-toplevel   # programs that use `memory` only need it not
        end = len(self.memory) if size is None else offset + size
        return numpy.frombuffer(self.memory, dtype="uint8")[offset:end].view(dtype)

    def next(self, timeout=-1):
        """
        The next completion, or None: none came within `timeout` ms (-1: waits until the receiver ends), or a signal did.
        """
        c = Completion()
        c.receiver = self
        if timeout >= 0:
            return c if _lib.rocescope_next(self.handle, c, timeout) else None
        while not _lib.rocescope_next(self.handle, c, _POLL_MS):   # Python looks at signals between two calls
            if self.ended:
                return c if _lib.rocescope_next(self.handle, c, 0) else None
        return c

    def completions(self, timeout=-1):
        """Completions, until none comes for `timeout` ms, or (-1) the receiver ends. A signal does not end it."""
        while c := self.next(timeout):
            yield c

    @property
    def ended(self):
        """Whether the receiver was detached: nothing more comes. What it brought stays readable until close()."""
        return bool(_lib.rocescope_ended(self.handle))

    def torn(self, c):
        """Whether the bytes of the completion may have been overwritten. Ask after reading them."""
        return bool(_lib.rocescope_torn(self.handle, c))

    def post(self, c=None):
        """Posts the receive that the completion used again. None: all that were used."""
        _lib.rocescope_post(self.handle, c)

    @property
    def lost(self):
        """How many completions were overwritten before they were read."""
        return _lib.rocescope_lost(self.handle)

    @contextlib.contextmanager
    def blocks(self, size, count, offset=0, first=ANY_BLOCK, window=0):
        """A ring of blocks, as rocescope_blocks_new(). size: bytes of a block."""
        handle = _lib.rocescope_blocks_new(self.handle, offset, size, count, first, window)
        if not handle:
            raise _failed("blocks")
        try:
            yield (blocks := Blocks(self, handle))
        finally:
            blocks.close()


class Block:
    """number, offset in the memory, bytes, missing_bytes, missing: a list of (first byte, number of bytes)."""

    def __init__(self, blocks, block):
        self._blocks, self.offset = blocks, block.address - blocks.receiver.address
        self.number, self.bytes, self.missing_bytes = block.number, block.bytes, block.missing_bytes
        self.missing = [(m.first, m.bytes) for m in block._missing[:block.missing_count]]

    def array(self, dtype="uint8"):
        """The block, as Completion.array()."""
        return self._blocks.receiver.array(self.offset, self.bytes, dtype)

    def torn(self):
        """Whether its bytes may have been overwritten. Ask after reading them, and before the next block."""
        return bool(_lib.rocescope_blocks_torn(self._blocks.handle))


class Blocks(_Handle):
    """Made by Receiver.blocks()."""

    def __init__(self, receiver, handle):
        super().__init__(handle, _lib.rocescope_blocks_free, "ring")
        self.receiver = receiver

    def add(self, c):
        """Adds a completion, and yields the blocks that are due. Use all of them."""
        if _lib.rocescope_blocks_add(self.handle, c) < 0:
            raise _failed("blocks")
        return self._due(0)

    def end(self):
        """Yields all blocks that were begun."""
        return self._due(1)

    @property
    def late(self):
        """How many completions came for blocks that had been given out."""
        return _lib.rocescope_blocks_late(self.handle)

    def _due(self, end):
        block = _Block()
        while _lib.rocescope_blocks_next(self.handle, block, end):
            yield Block(self, block)
