FROM lockfault/base:bookworm
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install redis-server redis-sentinel \
 && rm -rf /var/lib/apt/lists/*
