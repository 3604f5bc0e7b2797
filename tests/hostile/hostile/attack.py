"""What an attack is: a function, and the bounds that its figures have to keep."""

from dataclasses import dataclass, field

ATTACKS = []

# What holds in every attack on a program.
_ALWAYS = {"search": {"threads": 100}, "manager": {"threads": 120, "stacks without threads": 0, "bystander failed": 0}}


@dataclass(frozen=True)
class Attack:
    """`run(attacked, size)` attacks a program and returns figures by name; `size` is that of the form, "short" or "long". One that
    cannot be run here returns why as the figure "skipped"."""

    name: str
    run: object
    # An attack without a size for a form has no such form.
    sizes: dict
    # The most that a figure may be, in both forms and in the long one alone. Times are in the long one only: a machine that does
    # something else at the same time makes them worthless.
    at_most: dict = field(default_factory=dict)
    at_most_long: dict = field(default_factory=dict)
    flags: tuple = ()
    target: str = "search"  # Or "manager".
    is_started: bool = True  # Whether the program runs when the attack begins; otherwise the attack starts it.
    has_process: bool = True  # Whether one program is attacked, whose figures count.

    def bounds(self, is_long):
        return {**(_ALWAYS[self.target] if self.has_process else {}), **self.at_most, **(self.at_most_long if is_long else {})}

    def broken(self, figures, is_long):
        """What the figures break, as lines. A figure that is missing keeps no bound, unless the attack has been skipped."""
        lines = []
        for name, bound in self.bounds(is_long).items():
            if name not in figures:
                if "skipped" not in figures:
                    lines.append(f"{self.name}: {name} is missing, at most {bound} may be")
            elif not figures[name] <= bound:  # A number that is none is not within a bound either.
                lines.append(f"{self.name}: {name} is {shown(figures[name])}, at most {bound} may be")
        return lines


def shown(value):
    return f"{value:.3g}" if isinstance(value, float) else value


def attack(name, sizes, at_most=None, at_most_long=None, **how):
    """Declares a function an attack."""
    def declare(run):
        ATTACKS.append(Attack(name, run, sizes, at_most or {}, at_most_long or {}, **how))
        return run
    return declare
