# The container testbed's images: see docker/README.md.

.PHONY: images images-test

export OFFLINE REDIS_BASE TOXIPROXY_BASE POSTGRES_BASE

images: ## build the images of the container testbed (OFFLINE=1: from packages, without a registry)
	docker/images/build.sh

images-test: ## prove that the clock preload works, in a container and in a cluster
	docker/base/sources_test.sh
	docker/images/redis/clock_test.sh
