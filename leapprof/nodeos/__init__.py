"""What leapprof knows of nodeos: options, configuration grammar, rules, log lines, API answers, stages. Pure."""
