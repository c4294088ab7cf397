FROM lockfault/base:bookworm
# docker/images/postgres makes the cluster, so the package need not.
RUN mkdir -p /etc/postgresql-common \
 && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
 && apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install postgresql-15 \
 && rm -rf /var/lib/apt/lists/*
