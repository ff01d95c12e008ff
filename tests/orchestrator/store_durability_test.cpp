// What is left after a power cut, a torn write and SIGKILL: all that was acknowledged, and of what
// was not, whole batches or nothing.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>

#include "base/file.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
namespace fs = std::filesystem;

constexpr std::size_t kLimit = 64u << 20;

/// So many events at once in batch `number` (from 1): between 1 and 7, each with its batch in it.
std::size_t size_of(int number) { return static_cast<std::size_t>(number * 5 % 7) + 1; }

std::vector<Event> batch(int number) {
  std::vector<Event> events(size_of(number));
  for (auto& event : events) {
    event.kind = EventKind::step_began;
    event.node = "n1";
    event.step = "batch " + std::to_string(number);
    event.data = {{"filling", std::string(static_cast<std::size_t>(number * 97 % 3000), 'x')}};
  }
  return events;
}

/// The number of batches in the run, if what is there is whole batches from the first one on.
std::optional<int> whole_batches(const std::vector<Event>& events) {
  std::size_t at = 0;
  int number = 0;
  while (at < events.size()) {
    ++number;
    const auto end = at + size_of(number);
    if (end > events.size()) return std::nullopt;
    for (; at < end; ++at)
      if (events[at].step != "batch " + std::to_string(number)) return std::nullopt;
  }
  return number;
}

/// What a store in the folder says of run 1, its chain verified; nothing if it is no such prefix.
std::optional<int> batches_in(const fs::path& folder) {
  const auto store = Store::open(folder);
  EXPECT_TRUE(store) << (store ? "" : store.error().what);
  if (!store) return std::nullopt;
  const auto events = (*store)->events_after(1, 0);
  EXPECT_TRUE(events) << (events ? "" : events.error().what);
  return events ? whole_batches(*events) : std::nullopt;
}

class DurabilityTest : public StoreTest {
 protected:
  std::string bytes_of(const char* name) const { return read_file(folder_ / name, kLimit).value(); }

  /// A folder with these files alone, as after a crash: no shared memory is left of it.
  fs::path left(const std::string& database, std::string_view wal) {
    const auto folder = folder_ / "left";
    fs::remove_all(folder);
    fs::create_directory(folder);
    EXPECT_TRUE(write_file(folder / "cupel.db", database));
    EXPECT_TRUE(write_file(folder / "cupel.db-wal", wal));
    return folder;
  }
};

/// A store whose last batches are in the WAL alone, and how long that was after each of them.
struct Written {
  std::string database{};
  std::string wal{};
  std::vector<std::size_t> ends{};

  int whole_at(std::size_t cut) const {
    return static_cast<int>(std::ranges::upper_bound(ends, cut) - ends.begin());
  }
};

Written written_in(const fs::path& folder, int batches) {
  {
    const auto first = Store::open(folder).value();
    EXPECT_TRUE(first->begin_run({.playbook = "new-rack", .nodes = {"n1"}}));
  }
  const auto store = Store::open(folder).value();
  Written written;
  for (int number = 1; number <= batches; ++number) {
    auto events = batch(number);
    EXPECT_TRUE(store->append(1, events));
    written.ends.push_back(fs::file_size(folder / "cupel.db-wal"));
  }
  // Copied while the store is open: closing it would empty the WAL.
  written.database = read_file(folder / "cupel.db", kLimit).value();
  written.wal = read_file(folder / "cupel.db-wal", kLimit).value();
  return written;
}

TEST_F(DurabilityTest, AWalCutAtAnyFrameGivesAllWholeBatchesBeforeTheCut) {
  CUPEL_OF_SQLITE_ALONE();
  // Source: "WAL-mode File Format", 1.1 and 1.2: a header of 32 bytes, then frames of 24 and a
  // page.
  constexpr std::size_t kHeader = 32;
  constexpr std::size_t kFrame = 24 + 4096;
  const auto written = written_in(folder_, 12);
  ASSERT_EQ((written.wal.size() - kHeader) % kFrame, 0);

  for (std::size_t cut = kHeader; cut <= written.wal.size(); cut += kFrame) {
    const auto folder = left(written.database, std::string_view{written.wal}.substr(0, cut));
    EXPECT_EQ(batches_in(folder), written.whole_at(cut)) << "cut at byte " << cut;
  }
}

TEST_F(DurabilityTest, AWalCutAtAnyByteOrTornInItsLastPageGivesAllWholeBatchesBeforeIt) {
  CUPEL_OF_SQLITE_ALONE();
  const auto written = written_in(folder_, 12);
  constexpr unsigned kSeed = 20261121;
  std::mt19937 draw{kSeed};
  std::uniform_int_distribution<std::size_t> place{0, written.wal.size() - 1};

  for (int i = 0; i < 60; ++i) {
    const auto cut = place(draw);
    auto wal = written.wal.substr(0, cut);
    // Every other time the file has its length, but what stood there was never written.
    if (i % 2 == 1) wal.resize(written.wal.size(), '\0');
    const auto folder = left(written.database, wal);
    EXPECT_EQ(batches_in(folder), written.whole_at(cut)) << "seed " << kSeed << ", byte " << cut;
  }
}

TEST_F(DurabilityTest, AStoreCutOffWhileItWasMadeIsMadeAgain) {
  CUPEL_OF_SQLITE_ALONE();
  std::string database, wal;
  {
    const auto store = open();
    ASSERT_TRUE(store->begin_run(run_on({"n1"})));
    database = bytes_of("cupel.db");
    wal = bytes_of("cupel.db-wal");
  }

  for (std::size_t cut = 0; cut <= wal.size(); cut += 4096) {
    const auto folder = left(database, std::string_view{wal}.substr(0, cut));
    const auto store = Store::open(folder);
    ASSERT_TRUE(store) << cut << ": " << store.error().what;
    EXPECT_LE((*store)->runs(5).value().size(), 1);
  }
}

// The disk as it is after a power cut at the worst moment: of each file nothing but what was there
// at its last sync. SQLite's own layer to the operating system, with one verb listened in on.
namespace power {

struct Listened {
  std::string name{};
  const sqlite3_io_methods* methods = nullptr;  // SQLite's own: of a database other than of a WAL
  sqlite3_io_methods listening{};
};

std::map<sqlite3_file*, Listened> open_files;
std::map<std::string, std::string> synced;
sqlite3_vfs* real = nullptr;

int sync_file(sqlite3_file* file, int flags) {
  const auto& [name, methods, listening] = open_files[file];
  const int result = methods->xSync(file, flags);
  sqlite3_int64 size = 0;
  if (result != SQLITE_OK || methods->xFileSize(file, &size) != SQLITE_OK) return result;
  // Through SQLite's own descriptor: closing another one would drop its POSIX locks.
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (methods->xRead(file, bytes.data(), static_cast<int>(size), 0) == SQLITE_OK)
    synced[name] = std::move(bytes);
  return result;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* given) {
  const int result = real->xOpen(real, name, file, flags, given);
  if (result != SQLITE_OK || name == nullptr) return result;
  auto& listened = open_files[file];
  listened = {fs::path{name}.filename().string(), file->pMethods, *file->pMethods};
  listened.listening.xSync = sync_file;
  file->pMethods = &listened.listening;
  return result;
}

}  // namespace power

TEST_F(DurabilityTest, WhatIsAcknowledgedWasSyncedBefore) {
  CUPEL_OF_SQLITE_ALONE();
  power::real = sqlite3_vfs_find(nullptr);
  sqlite3_vfs vfs = *power::real;
  vfs.zName = "power";
  vfs.xOpen = power::open_file;
  ASSERT_EQ(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
  auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();

  std::vector<std::map<std::string, std::string>> after;
  for (int number = 1; number <= 20; ++number) {
    auto events = batch(number);
    ASSERT_TRUE(store->append(run, events));
    after.push_back(power::synced);
  }
  store.reset();
  sqlite3_vfs_register(power::real, 1);
  sqlite3_vfs_unregister(&vfs);

  for (int number = 1; number <= 20; ++number) {
    auto& files = after[static_cast<std::size_t>(number - 1)];
    EXPECT_EQ(batches_in(left(files["cupel.db"], files["cupel.db-wal"])), number);
  }
}

TEST_F(DurabilityTest, AControllerKilledInMidAppendLosesNothingThatItAcknowledged) {
  for (const int kill_after : {1, 7, 20, 45}) {
    const auto folder = folder_ / ("killed-" + std::to_string(kill_after));
    fs::create_directory(folder);
    name_server_in(folder);
    int reported[2];
    ASSERT_EQ(::pipe2(reported, O_CLOEXEC), 0);
    const auto child = ::fork();
    if (child == 0) {
      auto store = Store::open(folder);
      if (!store || !(*store)->begin_run({.playbook = "p", .nodes = {"n1"}})) ::_exit(1);
      for (int number = 1;; ++number) {
        auto events = batch(number);
        if (!(*store)->append(1, events)) ::_exit(1);
        if (::write(reported[1], &number, sizeof number) != sizeof number) ::_exit(1);
      }
    }
    ::close(reported[1]);
    int acknowledged = 0;
    while (acknowledged < kill_after) {
      ASSERT_EQ(::read(reported[0], &acknowledged, sizeof acknowledged),
                ssize_t{sizeof acknowledged});
    }

    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(reported[0], &acknowledged, sizeof acknowledged) ==
           ssize_t{sizeof acknowledged}) {
    }
    ::close(reported[0]);

    const auto found = batches_in(folder);
    ASSERT_TRUE(found);
    EXPECT_GE(*found, acknowledged);
    // It may have been killed between the commit and its acknowledgement; never two batches later.
    EXPECT_LE(*found, acknowledged + 1);
  }
}

}  // namespace
}  // namespace cupel::store
