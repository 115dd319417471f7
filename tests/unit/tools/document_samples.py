"""Small real documents, made for the tests that read them."""

from pathlib import Path

import docx


def write_pdf(path: Path, *pages: str) -> None:
    """Write a PDF of one line a page, every byte by hand."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    )
    path.write_bytes(body + trailer.encode())


def write_docx(path: Path) -> None:
    """Write a DOCX with a heading, a paragraph and a table."""
    document = docx.Document()
    document.add_heading("Azure", level=1)
    document.add_paragraph("Azure grew by 29 percent.")
    table = document.add_table(rows=2, cols=2)
    for place, text in zip(table._cells, ("year", "revenue", "2024", "75 billion"), strict=True):
        place.text = text
    document.save(str(path))
