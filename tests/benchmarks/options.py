"""The option of all benchmarks: `--rows 5` tries one out, whatever its other sizes are."""

from argparse import ArgumentParser, Namespace


def read_options(parser: ArgumentParser, *sizes: str) -> Namespace:
    """Return the options, with `rows`, which is None without the option.

    Args:
        sizes: names of options that are numbers; each is at most `rows`.
    """
    parser.add_argument("--rows", type=int, help="at most so many of each, once, to try it out")
    options = parser.parse_args()
    if options.rows is not None:
        given = {name: min(getattr(options, name), options.rows) for name in sizes}
        vars(options).update(given, repeat=1)
    return options
