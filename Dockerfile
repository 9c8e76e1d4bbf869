# The manager's image: nothing in it but Python, the pinned dependencies and the package.
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements/runtime.txt requirements/build.txt requirements/
RUN python -m venv /lws \
    && /lws/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.txt \
    && pip install --no-cache-dir --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . \
    && /lws/bin/pip install --no-cache-dir --no-deps /wheels/*.whl \
    && /lws/bin/pip uninstall --yes pip

FROM python:3.13-slim
COPY --from=build /lws /lws
USER 65532:65532
ENV PYTHONDONTWRITEBYTECODE=1
ENTRYPOINT ["/lws/bin/lws"]
CMD ["run"]
