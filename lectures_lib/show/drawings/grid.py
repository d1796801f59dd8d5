"""Where things are: numbers in pixels, points, and the grid of a matrix."""

from dataclasses import dataclass

Number = int | float
Point = tuple[Number, Number]


@dataclass(frozen=True)
class Grid:
    """Where a matrix was drawn, so that arrows and labels find its edges and cells."""

    x: Number
    y: Number
    rows: int
    columns: int
    cell: Point

    @property
    def width(self) -> Number:
        """From the left edge to the right one."""
        return self.columns * self.cell[0]

    @property
    def height(self) -> Number:
        """From the top edge to the bottom."""
        return self.rows * self.cell[1]

    @property
    def right(self) -> Number:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> Number:
        """The lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """The centre."""
        return self.x + self.width / 2, self.y + self.height / 2

    def centre(self, row: int, column: int) -> Point:
        """The centre of one cell."""
        return self.x + (column + 0.5) * self.cell[0], self.y + (row + 0.5) * self.cell[1]
