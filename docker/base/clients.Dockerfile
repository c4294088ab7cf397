# For locks written in other languages: Python and PHP with their Redis clients.
FROM lockfault/base:bookworm
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install python3-redis php-cli php-redis \
 && rm -rf /var/lib/apt/lists/*
