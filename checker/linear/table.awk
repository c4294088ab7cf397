# Makes a Markdown table of what BenchmarkMutex prints. How many times as fast says the mean of the runs, under the same load
# as porcupine's only one; the best of them says how fast it is on a machine that is not shared.
BEGIN {
	print "| history | porcupine | special-purpose, best | cold | times as fast | B/operation, cold |"
	print "|---|---|---|---|---|---|"
}
/^Benchmark[A-Za-z]*\// {
	name = $1
	sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name); gsub(/\//, ", ", name)
	for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i
	least = v["porcupine-gave-up"] ? "gave up after " : ""
	printf "| %s | %s%s ms | %.3g ms | %.3g ms | %s%.0f | %.0f |\n", name, least, v["porcupine-ms"], v["best-ms"], v["cold-ms"],
		least ? "more than " : "", v["x-faster"], v["B/history-op"]
}
