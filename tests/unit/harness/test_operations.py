"""Operations are counted as they stand in the code, and functions are as before afterwards."""

import ast
from typing import Any

import pytest

from tests.harness.operations import NAME, Counting, count_operations
from workers.errors import BudgetExceeded
from workers.evaluation.budget import Budget, spend, spending

CODE = '''
def one(numbers):
    """Return something."""
    found = []
    for number in numbers:
        if number > 1:
            found.append(number)
        else:
            pass
    return found

def turns(numbers):
    return {number: [each for each in range(number)] for number in numbers if number > 1}

def within(numbers):
    half = lambda number: number / 2
    try:
        return sum(map(half, numbers))
    finally:
        numbers.clear()
'''


@pytest.mark.parametrize(
    ("name", "numbers", "result", "operations"),
    [
        # Three statements, and two in each turn.
        ("one", [1, 2, 3], [2, 3], 3 + 3 * 2),
        # One statement, three turns of one comprehension, two and three of the other.
        ("turns", [1, 2, 3], {2: [0, 1], 3: [0, 1, 2]}, 1 + 3 + 2 + 3),
        # Four statements, and three calls of the lambda.
        ("within", [2, 4, 6], 6.0, 4 + 3),
    ],
)
def test_statements_turns_and_lambdas_count_as_one_each(
    name: str, numbers: list[int], result: object, operations: int
) -> None:
    counted: list[None] = []

    def count() -> bool:
        counted.append(None)
        return True

    functions: dict[str, Any] = {NAME: count}
    exec(compile(ast.fix_missing_locations(Counting().visit(ast.parse(CODE))), "code", "exec"), functions)
    assert functions[name](numbers) == result
    assert len(counted) == operations


def test_only_code_of_the_project_counts_and_functions_are_as_before_afterwards() -> None:
    plain = spend.__code__
    one, ten = (count_operations(lambda turns=turns: [spend(1) for _ in range(turns)]) for turns in (1, 10))
    assert ten == 10 * one > 0
    assert count_operations(lambda: sorted(range(100))) == 0
    with spending(Budget(limit=0)), pytest.raises(BudgetExceeded):
        count_operations(lambda: spend(1))
    assert spend.__code__ is plain
