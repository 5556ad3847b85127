#!/bin/sh
# Writes the folder whose files basic_memory.json holds, with the PyPI package basic-memory 0.17.9: sh make_basic_memory.sh OUT
#   pip install basic-memory==0.17.9 (Python 3.12)
set -eu
HOME=$(mktemp -d) && export HOME
mkdir -p "$HOME/vault" && basic-memory project add vault "$HOME/vault" > /dev/null
note() { basic-memory tool write-note --project vault --title "$1" --folder "$2" --tags "$3" --content "$4" > /dev/null; }
note "Coffee Brewing" kitchen coffee,method '# Coffee Brewing

## Observations
- [method] Pour over extracts more #brewing (tested twice)
- [tip] Grind just before

## Relations
- requires [[Water Temperature]]
- part of the morning, see [[山田さんのメモ]]'
note "Water Temperature" kitchen water '# Water Temperature
- [fact] 93 °C'
note "山田さんのメモ" люди люди '# 山田さんのメモ
Любит чай 🍵'
mkdir -p "$1" && cp -R "$HOME/vault/." "$1"
