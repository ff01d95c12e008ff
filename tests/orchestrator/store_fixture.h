#pragma once
// A store of its own, and hands that reach into its tables behind its back. With
// CUPEL_TEST_STORE=postgresql in the environment it is on a PostgreSQL server of the test program.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/store/evidence.h"
#include "orchestrator/store/store.h"
#include "tests/support/postgresql.h"
#include "tests/support/real_part.h"

/// For what SQLite alone has: its file, its pages, its layer to the operating system.
#define CUPEL_OF_SQLITE_ALONE() \
  if (on_postgresql()) GTEST_SKIP() << "of SQLite's file"
/// For what a server alone has.
#define CUPEL_OF_A_SERVER_ALONE() \
  if (!on_postgresql()) GTEST_SKIP() << "SQLite has no connection that can be lost"

namespace cupel::store {

class StoreTest : public ::testing::Test {
 protected:
  static bool on_postgresql() {
    const char* named = std::getenv("CUPEL_TEST_STORE");
    return named != nullptr && std::string_view{named} == "postgresql";
  }

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cupel-store-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    CUPEL_NEEDS_REAL_PART(
        !on_postgresql() || testing::Postgresql::is_installed(),
        "there is no PostgreSQL server: apt-get install postgresql-15 (Debian 13: postgresql-17)");
    schema_ = name_server_in(folder_);
  }
  void TearDown() override {
    for (const auto& schema : schemas_) testing::Postgresql::of_this_program().drop(schema);
    std::filesystem::remove_all(folder_);
  }

  /// Where the tests are of PostgreSQL, its schema for a store in this folder.
  std::string name_server_in(const std::filesystem::path& folder) {
    if (!on_postgresql()) return {};
    auto& server = testing::Postgresql::of_this_program();
    schemas_.push_back(server.new_schema());
    write_store_file(folder, server.store_file(schemas_.back()));
    return schemas_.back();
  }

  static void write_store_file(const std::filesystem::path& folder, const std::string& text) {
    std::ofstream{folder / "store.yaml"} << text;
    std::filesystem::permissions(folder / "store.yaml", std::filesystem::perms{0600});
  }

  std::unique_ptr<Store> open() {
    auto store = Store::open(folder_);
    EXPECT_TRUE(store) << (store ? "" : store.error().what);
    return store ? *std::move(store) : nullptr;
  }

  void sql(const std::string& statement) {
    if (!on_postgresql()) return sql_in(folder_, statement);
    EXPECT_NO_THROW(testing::Postgresql::of_this_program().ask(schema_, statement));
  }

  /// Behind the store's back: a piece of evidence is gone, or is something else.
  void lose_evidence(const std::string& hash) {
    if (on_postgresql()) return sql("DELETE FROM evidence WHERE hash = '" + hash + "'");
    EXPECT_TRUE(std::filesystem::remove(evidence_file(folder_, hash)));
  }
  void change_evidence(const std::string& hash) {
    if (on_postgresql())
      return sql("UPDATE evidence SET bytes = 'something else' WHERE hash = '" + hash + "'");
    std::ofstream{evidence_file(folder_, hash)} << "something else";
  }

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
  std::string schema_{};  // on PostgreSQL

 private:
  std::vector<std::string> schemas_{};
};

}  // namespace cupel::store
