# One file, two images: `--target platform` and `--target runtime`. Neither holds a secret; both run as a plain user.
FROM python:3.11-slim AS base
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --system --uid 10001 --no-create-home memory
WORKDIR /app
STOPSIGNAL SIGTERM

FROM base AS platform
COPY requirements/platform.lock requirements/platform.lock
RUN pip install --require-hashes -r requirements/platform.lock
COPY shared shared
COPY runtimes_svc runtimes_svc
USER 10001
EXPOSE 8766
CMD ["python", "-m", "runtimes_svc", "--host", "0.0.0.0", "--port", "8766"]

FROM base AS runtime
COPY requirements/runtime.lock requirements/runtime.lock
RUN pip install --require-hashes -r requirements/runtime.lock
COPY shared shared
COPY runtime_svc runtime_svc
USER 10001
EXPOSE 8765
CMD ["python", "-m", "runtime_svc", "--host", "0.0.0.0", "--port", "8765"]
