"""What an order costs, with coupon and shipping."""

from decimal import Decimal

from coupons import find_coupon

SHIPPING = Decimal("3.90")
FREE_FROM = Decimal("40")


def total(order):
    """Give what the customer pays."""
    goods = sum((line["price"] * line["quantity"] for line in order["lines"]), Decimal(0))
    if order.get("coupon"):
        goods -= discount(goods, order["coupon"])
    return goods + (0 if goods >= FREE_FROM else SHIPPING)


def discount(goods, code):
    """Give what a coupon takes off."""
    coupon = find_coupon(code)
    return goods * coupon.percent / 100
