"""Pictures of a run as files: its plan and its timeline as SVG, its plan as Mermaid."""
