"""Images as the drawings of chapters 11 and 11b show them: cut into patches, their pixels as squares."""

from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number


def cut(image: Tensor, size: int) -> Tensor:
    """Its patches, (patches, size, size), as chapter 11 cuts them."""
    across = len(image) // size
    return image.reshape(across, size, across, size).transpose(1, 2).reshape(-1, size, size)


def halftone(drawing: Canvas, x: Number, y: Number, image: Tensor, cell: Number) -> Grid:
    """An image of numbers from 0 to 1: each a square in its cell, as large as the number."""
    grid, path = Grid(x, y, *image.shape, (cell, cell)), []
    for i, row in enumerate(image.tolist()):
        for j, value in enumerate(row):
            side = cell * value**0.5
            left, top = grid.centre(i, j)
            if side > 0.5:
                start = f"M{left - side / 2:.4g} {top - side / 2:.4g}"
                path.append(f"{start}h{side:.3g}v{side:.3g}h-{side:.3g}z")
    drawing.shape("".join(path), "neutral")
    drawing.frame(x, y, grid.width, grid.height, "encoder", thick=1, radius=0)
    return grid


def rulers(
    drawing: Canvas, grid: Grid, size: int, colour: str = "encoder", thick: Number = 1.5
) -> None:
    """The lines along which an image is cut."""
    step = size * grid.cell[0]
    for i in range(1, grid.rows // size):
        at = i * step
        drawing.line([(grid.x + at, grid.y), (grid.x + at, grid.bottom)], colour, thick)
        drawing.line([(grid.x, grid.y + at), (grid.right, grid.y + at)], colour, thick)
