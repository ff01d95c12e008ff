// Events a second into the journal, by batch, beside the bound: the same rows by SQLite's own C
// interface with the same durability, without hashes, JSON or SOCI. Nothing but the fsync differs
// between machines, so the ratio is what to look at.
//   build/release/tests/store_bench [SECONDS]
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/json.h"
#include "orchestrator/store/store.h"

namespace cupel {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kNodes = 10'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What the engine writes of step after step, node after node.
void fill(std::vector<store::Event>& batch, std::int64_t from) {
  for (auto& event : batch) {
    const auto n = from++;
    event.kind = n % 2 == 0 ? engine::EventKind::step_began : engine::EventKind::step_ended;
    event.node = fmt::format("a{:03}-n{:02}", n / 2 % kNodes / 20, n / 2 % 20);
    event.step = "gpu-burn";
    event.data = n % 2 == 0 ? json::object{{"attempt", 1}}
                            : json::object{{"outcome", "done"}, {"detail", "8 GPUs, 0 errors"}};
  }
}

struct Rate {
  double events_a_second = 0;
  double milliseconds_a_batch = 0;
};

Rate rate_of(std::int64_t events, std::size_t batch, double seconds) {
  const auto batches = static_cast<double>(events) / static_cast<double>(batch);
  return {static_cast<double>(events) / seconds, 1000 * seconds / batches};
}

void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "store_bench: %s\n", what);
  std::exit(1);
}

Rate ours(const fs::path& folder, std::size_t size, double seconds) {
  auto opened = store::Store::open(folder);
  must(opened.has_value(), "cannot open the store");
  auto& store = *opened.assume_value();
  store::Run run;
  run.nodes = {"a000-n00"};
  const auto id = store.begin_run(run).value();
  std::vector<store::Event> batch(size);
  std::int64_t done = 0;
  double spent = 0;
  while (spent < seconds) {
    fill(batch, done);
    const auto begin = Clock::now();
    must(store.append(id, batch).has_value(), "cannot append");
    spent += seconds_since(begin);
    done += static_cast<std::int64_t>(size);
  }
  return rate_of(done, size, spent);
}

/// The tables and settings of the store, and rows of the same bytes.
Rate bound(const fs::path& folder, std::size_t size, double seconds) {
  fs::create_directories(folder);
  sqlite3* sql = nullptr;
  must(sqlite3_open((folder / "bound.db").c_str(), &sql) == SQLITE_OK, "cannot open SQLite");
  const auto run = [&](const char* text) {
    must(sqlite3_exec(sql, text, nullptr, nullptr, nullptr) == SQLITE_OK, text);
  };
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; "
      "PRAGMA cache_size = -65536;"
      "CREATE TABLE event (run INTEGER NOT NULL, sequence BIGINT NOT NULL, time BIGINT NOT NULL, "
      "kind TEXT NOT NULL, node TEXT NOT NULL, step TEXT NOT NULL, data TEXT NOT NULL, "
      "hash TEXT NOT NULL, PRIMARY KEY (run, sequence));"
      "CREATE INDEX event_by_node ON event (run, node, sequence)");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(sql, "INSERT INTO event VALUES (1, ?, ?, ?, ?, ?, ?, ?)", -1, &insert,
                     nullptr);
  const std::string hash(64, 'a');
  std::vector<store::Event> batch(size);
  std::vector<std::string> data(size);
  std::int64_t done = 0;
  double spent = 0;
  while (spent < seconds) {
    fill(batch, done);
    for (std::size_t i = 0; i < size; ++i) data[i] = json::serialize(batch[i].data);
    const auto begin = Clock::now();
    run("BEGIN IMMEDIATE");
    for (std::size_t i = 0; i < size; ++i) {
      const auto kind = to_string(batch[i].kind);
      sqlite3_bind_int64(insert, 1, ++done);
      sqlite3_bind_int64(insert, 2, 1'790'000'000'000);
      int place = 3;
      for (const auto text :
           {kind, std::string_view{batch[i].node}, std::string_view{batch[i].step},
            std::string_view{data[i]}, std::string_view{hash}})
        sqlite3_bind_text(insert, place++, text.data(), static_cast<int>(text.size()),
                          SQLITE_STATIC);
      must(sqlite3_step(insert) == SQLITE_DONE, "cannot insert");
      sqlite3_reset(insert);
    }
    run("COMMIT");
    spent += seconds_since(begin);
  }
  sqlite3_finalize(insert);
  sqlite3_close(sql);
  return rate_of(done, size, spent);
}

int bench(double seconds) {
  // Not in /tmp, which may be memory: an fsync there costs nothing.
  std::string name = "/var/tmp/cupel-store-bench-XXXXXX";
  must(::mkdtemp(name.data()) != nullptr, "cannot make a folder");
  const fs::path folder{name};
  std::printf("%6s  %14s %12s  %14s %12s  %s\n", "batch", "events/s", "ms/batch", "bound/s",
              "ms/batch", "ours/bound");
  for (const std::size_t size : {1, 10, 100, 1000}) {
    const auto plain = bound(folder / fmt::format("bound-{}", size), size, seconds);
    const auto mine = ours(folder / fmt::format("ours-{}", size), size, seconds);
    std::printf("%6zu  %14.0f %12.3f  %14.0f %12.3f  %.2f\n", size, mine.events_a_second,
                mine.milliseconds_a_batch, plain.events_a_second, plain.milliseconds_a_batch,
                mine.events_a_second / plain.events_a_second);
    std::fflush(stdout);
  }
  fs::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace cupel

int main(int argc, char** argv) { return cupel::bench(argc > 1 ? std::atof(argv[1]) : 3.0); }
