"""Add up the hours of a week."""

HOURS = {"Mon": 7.5, "Tue": 8, "Wed": 6}


def total(hours):
    result = 0
    for day, worked in hours.items()
        result += worked
    return result


print(total(HOURS))
