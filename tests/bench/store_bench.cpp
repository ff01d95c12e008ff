// Events a second into the journal, by batch, beside the bound: the same rows by SQLite's own C
// interface with the same durability, without hashes, JSON or SOCI. In turns, because a disk's sync
// takes now this and now that; the median of the turns, and CPU, which a busy machine changes
// least. Last: the same on a thread of its own, as the controller writes its journals.
// With MEASUREMENTS, each step that ended has so many numbers, which stand in a table as well; the
// bound has them in its rows alone. With SOCKET_FOLDER, the same store on the PostgreSQL server
// whose socket is there, in new schemas of its database cupel, as user cupel; they stay there.
//   build/release/tests/store_bench [SECONDS [MEASUREMENTS [SOCKET_FOLDER]]]
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "orchestrator/store/background_journal.h"
#include "tests/bench/beside.h"
#include "tests/bench/cpu_time.h"

namespace cupel {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kNodes = 10'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

int measurements = 0;  // of each step that ended

json::array numbers(std::int64_t from) {
  json::array all;
  for (int i = 0; i < measurements; ++i)
    all.push_back({{"name", fmt::format("gpu.measure{}", i / 8)},
                   {"part", fmt::format("gpu{}", i % 8)},
                   {"value", static_cast<double>(from % 1000) + 0.25 * i},
                   {"unit", "GB/s"}});
  return all;
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
    if (n % 2 != 0 && measurements > 0) event.data["measurements"] = numbers(n);
  }
}

/// What batches of one size cost.
struct Cost {
  std::vector<double> seconds{};  // of each batch
  double cpu = 0;                 // seconds, of all

  double median() {
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
  }
};

/// Does it, and notes what it cost.
template <class Verb>
void cost_of(Cost& cost, Verb verb) {
  const auto begin = Clock::now();
  const auto cpu = bench::cpu_seconds();
  verb();
  cost.cpu += bench::cpu_seconds() - cpu;
  cost.seconds.push_back(seconds_since(begin));
}

void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "store_bench: %s\n", what);
  std::exit(1);
}

class Ours {
 public:
  explicit Ours(const fs::path& folder) {
    auto opened = store::Store::open(folder);
    must(opened.has_value(), "cannot open the store");
    store_ = *std::move(opened);
    run_ = store_->begin_run({.playbook = "bench", .nodes = {"a000-n00"}}).value();
  }

  void append(std::vector<store::Event>& batch) {
    fill(batch, done_);
    cost_of(cost, [&] { must(store_->append(run_, batch).has_value(), "cannot append"); });
    done_ += static_cast<std::int64_t>(batch.size());
  }
  std::int64_t done() const { return done_; }

  Cost cost{};

 private:
  std::unique_ptr<store::Store> store_{};
  store::RunId run_ = 0;
  std::int64_t done_ = 0;
};

/// As Ours, and as the controller has it: on a thread of its own.
class OnItsThread {
 public:
  explicit OnItsThread(const fs::path& folder) {
    store_ = store::Store::open(folder).value();
    const auto run = store_->begin_run({.playbook = "bench", .nodes = {"a000-n00"}}).value();
    thread_ = std::make_unique<store::JournalThread>(folder);
    journal_ = std::make_unique<store::BackgroundJournal>(*thread_, run);
  }

  void append(std::vector<store::Event>& batch) {
    fill(batch, done_);
    cost_of(cost, [&] {
      must(run_to_end(io_, journal_->append(batch)).has_value(), "cannot append on the thread");
    });
    done_ += static_cast<std::int64_t>(batch.size());
  }

  Cost cost{};

 private:
  asio::io_context io_{1};
  std::unique_ptr<store::Store> store_{};
  std::unique_ptr<store::JournalThread> thread_{};
  std::unique_ptr<store::BackgroundJournal> journal_{};
  std::int64_t done_ = 0;
};

/// The tables and settings of the store, and rows of the same bytes.
class LowerBound {
 public:
  explicit LowerBound(const fs::path& folder) {
    fs::create_directories(folder);
    must(sqlite3_open((folder / "bound.db").c_str(), &sql_) == SQLITE_OK, "cannot open SQLite");
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; "
        "PRAGMA cache_size = -65536;"
        "CREATE TABLE event (run INTEGER NOT NULL, sequence BIGINT NOT NULL, time BIGINT NOT NULL, "
        "kind TEXT NOT NULL, node TEXT NOT NULL, step TEXT NOT NULL, data TEXT NOT NULL, "
        "hash TEXT NOT NULL, PRIMARY KEY (run, sequence));"
        "CREATE INDEX event_by_node ON event (run, node, sequence)");
    sqlite3_prepare_v2(sql_, "INSERT INTO event VALUES (1, ?, ?, ?, ?, ?, ?, ?)", -1, &insert_,
                       nullptr);
  }
  ~LowerBound() {
    sqlite3_finalize(insert_);
    sqlite3_close(sql_);
  }
  LowerBound(const LowerBound&) = delete;
  LowerBound& operator=(const LowerBound&) = delete;

  void append(std::vector<store::Event>& batch) {
    fill(batch, done_);
    std::vector<std::string> data;
    for (const auto& event : batch) data.push_back(json::serialize(event.data));
    cost_of(cost, [&] {
      run("BEGIN IMMEDIATE");
      for (std::size_t i = 0; i < batch.size(); ++i) insert(batch[i], data[i]);
      run("COMMIT");
    });
  }

  Cost cost{};

 private:
  void run(const char* text) {
    must(sqlite3_exec(sql_, text, nullptr, nullptr, nullptr) == SQLITE_OK, text);
  }

  void insert(const store::Event& event, std::string_view data) {
    sqlite3_bind_int64(insert_, 1, ++done_);
    sqlite3_bind_int64(insert_, 2, 1'790'000'000'000);
    int place = 3;
    for (const auto text : {to_string(event.kind), std::string_view{event.node},
                            std::string_view{event.step}, data, std::string_view{hash_}})
      sqlite3_bind_text(insert_, place++, text.data(), static_cast<int>(text.size()),
                        SQLITE_STATIC);
    must(sqlite3_step(insert_) == SQLITE_DONE, "cannot insert");
    sqlite3_reset(insert_);
  }

  sqlite3* sql_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  std::string hash_ = std::string(64, 'a');
  std::int64_t done_ = 0;
};

/// Of the database and what it has yet to carry over.
double bytes_in(const fs::path& folder) {
  double bytes = 0;
  for (const auto& file : fs::directory_iterator{folder})
    if (file.path().filename().string().starts_with("cupel.db"))
      bytes += static_cast<double>(file.file_size());
  return bytes;
}

/// On the server; nothing where none is named.
std::unique_ptr<Ours> on_server(const std::string& socket_folder, const fs::path& folder,
                                std::size_t size) {
  if (socket_folder.empty()) return nullptr;
  fs::create_directories(folder);
  const auto text = fmt::format("postgresql:\n  host: {}\n  schema: bench_{}_{}\n", socket_folder,
                                ::getpid(), size);
  must(write_file(folder / "store.yaml", text).has_value(), "cannot name the server");
  return std::make_unique<Ours>(folder);
}

int run_all(double seconds, const std::string& socket_folder) {
  // Not in /tmp, which may be memory: an fsync there costs nothing.
  std::string name = "/var/tmp/cupel-store-bench-XXXXXX";
  must(::mkdtemp(name.data()) != nullptr, "cannot make a folder");
  const fs::path folder{name};
  std::printf("%6s  %10s %10s %8s  %10s %10s %8s  %10s  %8s  %10s  %10s\n", "batch", "events/s",
              "ms/batch", "CPU us/ev", "bound/s", "ms/batch", "CPU us/ev", "ours/bound", "bytes/ev",
              "ms thread", "ms server");
  for (const std::size_t size : {1, 10, 100, 1000}) {
    Ours ours{folder / fmt::format("ours-{}", size)};
    OnItsThread thread{folder / fmt::format("thread-{}", size)};
    LowerBound bound{folder / fmt::format("bound-{}", size)};
    const auto server = on_server(socket_folder, folder / fmt::format("server-{}", size), size);
    std::vector<store::Event> batch(size);
    for (const auto begin = Clock::now(); seconds_since(begin) < seconds;) {
      ours.append(batch);
      thread.append(batch);
      bound.append(batch);
      if (server) server->append(batch);
    }
    const auto events = static_cast<double>(size);
    const auto all = events * static_cast<double>(ours.cost.seconds.size());
    const auto mine = ours.cost.median();
    const auto plain = bound.cost.median();
    std::printf("%6zu  %10.0f %10.3f %8.1f  %10.0f %10.3f %8.1f  %10.2f  %8.0f  %10.3f  %10.3f\n",
                size, events / mine, 1000 * mine, 1e6 * ours.cost.cpu / all, events / plain,
                1000 * plain, 1e6 * bound.cost.cpu / all, plain / mine,
                bytes_in(folder / fmt::format("ours-{}", size)) / static_cast<double>(ours.done()),
                1000 * thread.cost.median(), server ? 1000 * server->cost.median() : 0.0);
    std::fflush(stdout);
    bench::print_beside({.what = fmt::format("journal, {} events a batch", size),
                         .peer = "SQLite's C interface",
                         .unit = "events/s",
                         .ours = events / mine,
                         .theirs = events / plain,
                         .asked = size < 100 ? "" : ">= 0.9"});
  }
  fs::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace cupel

int main(int argc, char** argv) {
  if (argc > 2) cupel::measurements = std::atoi(argv[2]);
  return cupel::run_all(argc > 1 ? std::atof(argv[1]) : 3.0, argc > 3 ? argv[3] : "");
}
