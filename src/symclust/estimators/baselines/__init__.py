"""Methods that the papers compare with: class and algorithm in one file each."""
