"""Asking the site's server, as a browser does, and seeing what it says beside the page."""

import http.client
from urllib.parse import urlsplit


def ask(address: str, path: str, **headers) -> tuple[http.client.HTTPResponse, bytes]:
    """The response and its body."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    connection.request(
        "GET",
        f"/{path}",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body
