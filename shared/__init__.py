"""What both services mean by the same word: scope, tokens, records, errors, the stores."""
