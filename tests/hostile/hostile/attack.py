"""What an attack is: a function, and the bounds that its figures have to keep."""

from dataclasses import dataclass, field

ATTACKS = []


@dataclass(frozen=True)
class Attack:
    """`run(attacked, size)` attacks a karmada-search and returns figures by name; `size` is "short" or "long"."""

    name: str
    run: object
    sizes: dict
    # The most that a figure may be, in both forms and in the long one alone. Times are in the long one only: a machine that does
    # something else at the same time makes them worthless.
    at_most: dict = field(default_factory=dict)
    at_most_long: dict = field(default_factory=dict)
    flags: tuple = ()

    def bounds(self, is_long):
        return {**self.at_most, **(self.at_most_long if is_long else {})}


def attack(name, sizes, at_most=None, at_most_long=None, flags=()):
    """Declares a function an attack."""
    def declare(run):
        ATTACKS.append(Attack(name, run, sizes, at_most or {}, at_most_long or {}, tuple(flags)))
        return run
    return declare
