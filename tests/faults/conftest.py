"""What a test measured of its fault, for the page."""

from collections.abc import Callable

import pytest


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Return a function that keeps what the page shows as measured by this test."""

    def keep(text: str) -> None:
        request.node.user_properties.append(("figure", text))

    return keep
