"""Loops that numba compiles: rules that go record by record, where arrays would hide them (udfs/**/kernels.py).

    @compiled("i8(u1[::1], i8)")
    def num_zeros(data, end): ...       # called with arrays and numbers, from Python and from other loops

    @compiled()
    def is_zero(byte): ...              # a step: called by loops alone, compiled into each of them

A loop is compiled when it is first called, so that numba is loaded only where a loop runs. Without the compiler it is
plain Python and gives the same: `loop.py_func`, or the whole process with NUMBA_DISABLE_JIT=1. For that, a loop takes
bytes and other small numbers as `int(data[at])`: NumPy would compute with them in their own size, numba in 64 bits.
"""

from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from types import FunctionType, ModuleType
from typing import Any, ClassVar, TypeVar, cast

Code = Callable[..., Any]
# A call would cost more than most steps take.
OF_STEPS = {"forceinline": True}
Function = TypeVar("Function", bound=Code)


class Loop:
    # Every loop with signatures of the modules that are loaded.
    ALL: ClassVar[list["Loop"]] = []
    # Whoever may use files takes loops from a folder instead (jobs/spark/compiled_loops.py).
    compile: ClassVar[Callable[["Loop"], Code]]

    def __init__(
        self, function: FunctionType, signatures: tuple[str, ...], before: Callable[[], None] | None = None,
        *, allocates: bool = True, inlines: bool = True,
    ) -> None:  # fmt: skip
        update_wrapper(self, function)
        self.name = f"{function.__module__}.{function.__name__}"
        self.py_func = function
        self.signatures = signatures
        self.before = before
        self.options = {} if allocates else {"_nrt": False}
        self.options_of_step = OF_STEPS if inlines else {}
        if signatures:
            self.ALL.append(self)

    def __call__(self, *arguments: Any) -> Any:
        return self.code(*arguments)

    @cached_property
    def code(self) -> Code:
        """Of a step it is the plain function: only a loop that runs as plain Python calls it from Python."""
        return Loop.compile(self) if self.signatures else self.py_func

    @cached_property
    def as_step(self) -> Any:
        return compiler().njit(self.py_func, **self.options_of_step, **self.options)

    def compiled(self, prepare: Callable[[Any], None] = lambda dispatcher: None) -> Code:
        """For its signatures alone: other arguments are an error, not another compilation."""
        dispatcher = compiler().njit(self.py_func, **self.options)
        if not hasattr(dispatcher, "compile"):
            return self.py_func  # NUMBA_DISABLE_JIT
        prepare(dispatcher)
        if self.before is not None:
            self.before()
        for signature in self.signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        return cast(Code, dispatcher)


Loop.compile = staticmethod(Loop.compiled)


def compiled(
    *signatures: str, before: Callable[[], None] | None = None, allocates: bool = True, inlines: bool = True
) -> Callable[[Function], Function]:
    """`before` is called before the loop is compiled or loaded: it shows numba a function of another library.

    `allocates=False`, of a loop and all its steps: none of them makes an array or a view of one. Then nothing counts
    who uses an array, which takes most of the time where a loop passes many arrays to its steps.

    `inlines=False`, of a step that is long or has many callers: it is called. Inlined, such steps would take the
    compiler minutes where they call each other."""

    def made(function: Function) -> Function:
        return cast(
            Function, Loop(cast(FunctionType, function), signatures, before, allocates=allocates, inlines=inlines)
        )

    return made


@cache
def compiler() -> ModuleType:
    import numba
    from numba.extending import typeof_impl

    @typeof_impl.register(Loop)
    def type_of_step(step: Loop, context: Any) -> Any:
        return typeof_impl(step.as_step, context)

    return numba
