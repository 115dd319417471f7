"""Payments, as the gateway of the card company takes them."""

import json
from urllib.request import Request, urlopen


class Gateway:
    """Sends payments to the gateway and reads its answers."""

    def __init__(self, url, timeout_s):
        self.url = url
        self.timeout_s = timeout_s

    def charge(self, order, cents):
        """Charge a card; gives the gateway's number of the payment."""
        body = json.dumps({"order": order, "cents": cents}).encode()
        request = Request(f"{self.url}/charges", body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=self.timeout_s) as answer:
            return json.load(answer)["payment"]
