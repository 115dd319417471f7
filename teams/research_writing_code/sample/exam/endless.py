"""Wait until a number becomes odd."""

number = 2
while number % 2 == 0:
    number += 2
print(number)
