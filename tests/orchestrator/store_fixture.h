#pragma once
// A store in a folder of its own, and hands that reach into its files behind its back.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/store/store.h"

namespace cupel::store {

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cupel-store-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Store> open() {
    auto store = Store::open(folder_);
    EXPECT_TRUE(store) << (store ? "" : store.error().what);
    return store ? *std::move(store) : nullptr;
  }

  void sql(const std::string& statement) { sql_in(folder_, statement); }

  static void sql_in(const std::filesystem::path& folder, const std::string& statement) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "cupel.db").c_str(), &database), SQLITE_OK);
    char* fault = nullptr;
    EXPECT_EQ(sqlite3_exec(database, statement.c_str(), nullptr, nullptr, &fault), SQLITE_OK)
        << statement << ": " << (fault == nullptr ? "" : fault);
    sqlite3_free(fault);
    sqlite3_close(database);
  }

  static store::Run run_on(std::vector<std::string> nodes) {
    store::Run run;
    run.playbook = "new-rack";
    run.nodes = std::move(nodes);
    return run;
  }

  static Event event(engine::EventKind kind, std::string node = {}, std::string step = {}) {
    Event made;
    made.kind = kind;
    made.node = std::move(node);
    made.step = std::move(step);
    made.data = {{"detail", "it's \"so\"\n"}};
    return made;
  }

  std::filesystem::path folder_;
};

}  // namespace cupel::store
