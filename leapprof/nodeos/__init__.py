"""What leapprof knows of nodeos: options, config grammar, rules, log lines, API answers, stages. Pure."""
