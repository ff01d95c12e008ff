// The libraries that the program opens when it needs them: where they are sought, and which fit.
#include "burnin/agent/burn/own_libraries.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "base/json.h"
#include "burnin/agent/burn/library_places.h"

namespace cupel::burn {
namespace {

TEST(BurnLibrary, SearchesTheNodesOwnThenThoseBesideTheProgram) {
  const std::array<std::string_view, 2> names{"liba.so.2", "liba.so.1"};

  const auto places = library_places(names, "/opt/cupel/bin");

  ASSERT_EQ(places.size(), 8);
  EXPECT_THAT(std::vector(places.begin(), places.begin() + 4),
              ::testing::ElementsAre("liba.so.2", "liba.so.1", "/opt/cupel/bin/lib/liba.so.2",
                                     "/opt/cupel/bin/lib/liba.so.1"));
}

TEST(BurnLibrary, ACublasLtThatIsNotThereIsNamedWithWhereItWasSought) {
  const std::array<std::string_view, 1> names{"libcupel-none.so.13"};

  const auto library = open_cublaslt(names);

  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, "no-library");
  EXPECT_THAT(library.error().message,
              ::testing::AllOf(::testing::HasSubstr("libcupel-none.so.13"),
                               ::testing::HasSubstr(agent::program_folder() + "/lib/")));
}

/// What the fake cuBLASLt says of itself, for as long as its scope.
class CublasLtVersion {
 public:
  explicit CublasLtVersion(const char* version) { ::setenv("FAKE_CUBLASLT_VERSION", version, 1); }
  ~CublasLtVersion() { ::unsetenv("FAKE_CUBLASLT_VERSION"); }
  CublasLtVersion(const CublasLtVersion&) = delete;
  CublasLtVersion& operator=(const CublasLtVersion&) = delete;
};

TEST(BurnLibrary, ACublasLtThatLacksAFunctionIsPassedOver) {
  const std::array<std::string_view, 2> names{FAKE_NCCL, FAKE_CUBLASLT};

  const auto library = open_cublaslt(names);

  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->path(), FAKE_CUBLASLT);
}

TEST(BurnLibrary, ACublasLtOfAnUnknownCudaIsNotUsed) {
  const std::array<std::string_view, 1> names{FAKE_CUBLASLT};
  for (const auto& [version, words] : {std::pair{"111103", "11.11.3"}, {"140000", "14.0.0"}}) {
    const CublasLtVersion reported{version};

    const auto library = open_cublaslt(names);

    ASSERT_FALSE(library) << version;
    EXPECT_THAT(library.error().message, ::testing::AllOf(::testing::HasSubstr(words),
                                                          ::testing::HasSubstr("CUDA 12 or 13")));
  }
}

TEST(BurnLibrary, PrintsALineForEachLibraryWithItsVersionOrFault) {
  std::istringstream lines{library_lines()};
  std::vector<std::string> names;
  std::string of_driver;
  std::getline(lines, of_driver);
  EXPECT_EQ(text_at(*parse_json(of_driver), "kind"), "driver");
  for (std::string line; std::getline(lines, line);) {
    const auto parsed = parse_json(line);
    ASSERT_TRUE(parsed) << line;
    const auto& reported = *parsed;
    EXPECT_EQ(text_at(reported, "kind"), "library");
    names.push_back(text_at(reported, "name").value_or(""));
    const bool fits = find(reported, "fits")->as_bool();
    EXPECT_EQ(text_at(reported, "version").has_value(), fits) << line;
    EXPECT_EQ(text_at(reported, "why").has_value(), !fits) << line;
  }

  EXPECT_THAT(names, ::testing::ElementsAre("libcublasLt", "libnccl"));
}

}  // namespace
}  // namespace cupel::burn
