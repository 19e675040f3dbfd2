# Tengen in a container: the wheel and what it needs, no compiler.
#
#   docker build -t tengen .
#   docker run -i -v tengen-cache:/cache tengen                 GTP on stdin and stdout
#   docker run -it -v tengen-cache:/cache tengen play           a game in the terminal
#   docker run -p 8080:8080 -v tengen-cache:/cache -v tengen-data:/data -e TENGEN_TOKEN tengen serve --host 0.0.0.0 --port 8080
#
# The first start compiles the engine for the processor, about a minute; the volume /cache keeps that for later ones,
# and /data networks and the games of `serve`.

FROM python:3.13-slim@sha256:ffb752e139c0a19692a43af8d8523b274222dd68eebad5d583b45c2201c6e30a AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim@sha256:ffb752e139c0a19692a43af8d8523b274222dd68eebad5d583b45c2201c6e30a
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/gtp_engine-*.whl && rm -r /wheels \
    && useradd --create-home --uid 1000 tengen \
    && mkdir /cache /data && chown tengen /cache /data
ENV TENGEN_CACHE_DIR=/cache TENGEN_DATA_DIR=/data
VOLUME ["/cache", "/data"]
WORKDIR /data
USER 1000
EXPOSE 8080
ENTRYPOINT ["gtp-engine"]
