// Reading and checking an inventory of 10,000 nodes, with its power tree and every check for
// doubles. Given a file's name, writes that inventory there instead, for `cupel inventory check`:
//
//   inventory_bench --write ranges|single|doubles FILE
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <fstream>

#include "inventory/load.h"

namespace {

using namespace cupel;

constexpr int kRacks = 1250;
constexpr int kInRack = 8;

enum class Shape {
  ranges,   // one entry for the eight nodes of a rack
  single,   // one entry for each node
  doubles,  // one entry for each node, and all of them with the same addresses
};

std::string head() {
  return "site: bench\nrooms: [{name: hall, watts: 200000000}]\ndefaults:\n"
         "  profile: hgx-h100-8\n"
         "  bmc: {user: admin, password: 'env:PASSWORD', tls: {trust: first-use}}\n"
         "  ssh: {user: root, key: agent}\n";
}

std::string rack(int number) {
  return fmt::format(
      "  - name: r{:04}\n    room: hall\n    watts: 200000\n    units: 80\n    pdus:\n"
      "      - name: p[1-2]\n        watts: 100000\n"
      "        breakers: [{{name: 'b[1-4]', watts: 25000}}]\n",
      number);
}

std::string range(int number) {
  return fmt::format(
      "  - name: r{0:04}-n[1-8]\n    rack: r{0:04}\n    unit: '[1-64/9]'\n    breaker: p1/b[1-4]\n"
      "    second_breaker: p2/b[1-4]\n    bmc: {{address: '10.{1}.{2}.[1-8]'}}\n"
      "    ssh: {{address: '11.{1}.{2}.[1-8]'}}\n",
      number, number / 250, number % 250);
}

std::string one(int number, int node, bool doubled) {
  const auto address =
      doubled ? std::string{"0.0.1"} : fmt::format("{}.{}.{}", number / 250, number % 250, node);
  return fmt::format(
      "  - name: r{0:04}-n{1}\n    rack: r{0:04}\n    unit: {2}\n    breaker: p1/b{3}\n"
      "    second_breaker: p2/b{3}\n    bmc: {{address: 10.{4}}}\n    ssh: {{address: 11.{4}}}\n",
      number, node, 1 + (node - 1) * 9, 1 + (node - 1) / 2, address);
}

std::string site(Shape shape) {
  auto text = head() + "racks:\n";
  for (int i = 0; i < kRacks; ++i) text += rack(i);
  text += "nodes:\n";
  for (int i = 0; i < kRacks; ++i) {
    if (shape == Shape::ranges)
      text += range(i);
    else
      for (int node = 1; node <= kInRack; ++node) text += one(i, node, shape == Shape::doubles);
  }
  return text;
}

void load(benchmark::State& state, Shape shape) {
  const auto text = site(shape);
  std::size_t problems = 0;
  for (auto _ : state) {
    const auto loaded = inventory::parse_inventory(text, "site.yaml", "/nowhere");
    problems = loaded.problems.size();
    const bool good = loaded.inventory && loaded.inventory->nodes.size() == kRacks * kInRack;
    if (shape == Shape::doubles ? good : !good) {
      const auto output = to_string(loaded.problems);
      state.SkipWithError(output.substr(0, 500).c_str());
      break;
    }
  }
  state.counters["problems"] = static_cast<double>(problems);
  state.counters["KiB"] = static_cast<double>(text.size()) / 1024;
}

BENCHMARK_CAPTURE(load, ranges, Shape::ranges)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, single, Shape::single)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, doubles, Shape::doubles)->Unit(benchmark::kMillisecond);

int write(const std::string& shape, const char* file) {
  const auto requested = shape == "ranges"   ? Shape::ranges
                         : shape == "single" ? Shape::single
                                             : Shape::doubles;
  return std::ofstream{file} << site(requested) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view{argv[1]} == "--write") return write(argv[2], argv[3]);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
