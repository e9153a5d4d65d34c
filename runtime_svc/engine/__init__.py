"""The only code that imports mem0 and onnxruntime: extraction and embedding."""
