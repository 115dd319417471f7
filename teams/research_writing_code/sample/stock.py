"""List the articles of the shop that have to be ordered, from the table of its stock."""

import csv
import json
from dataclasses import dataclass


@dataclass
class Article:
    name: str
    on_hand: int
    sold_per_week: float


def read_articles(path, articles=[]):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            on_hand, sold = int(row["on_hand"]), float(row["sold_per_week"])
            articles.append(Article(row["name"], on_hand, sold))
    return articles


def weeks_left(article):
    return article.on_hand / article.sold_per_week


def to_order(articles, weeks=4):
    return [article for article in articles if weeks_left(article) < weeks]


def main():
    for article in to_order(read_articles("stock.csv")):
        print(f"{article.name}: {weeks_left(article):.1f} weeks left")


if __name__ == "__main__":
    main()
