"""The only code that imports mem0 and onnxruntime: extraction and embedding."""

import os

# onnxruntime reads it as it is imported, from wherever in here that is: else it makes an id of this machine and reports
# the process to its maker. Nothing leaves the machine but what the configured providers are asked.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
