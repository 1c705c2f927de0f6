"""What a capture did when: `lanes` for spans on one clock, `device` for what its device's lane shows."""
