"""Whatever a user gives as X, in the form that methods take; similarities of samples that come later."""
