#include "burnin/agent/common/shared_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "burnin/agent/common/nvml.h"

namespace cupel::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

bool is_loaded(const char* path) {
  void* handle = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

TEST(SharedLibrary, CallsAFunctionOfTheFirstCandidateThatOpens) {
  const std::vector<std::string> candidates{"libcupel-none.so.13", "libm.so.6"};
  const auto library = SharedLibrary::open(candidates);
  ASSERT_TRUE(library);

  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library->load(cosine, "cos"));

  EXPECT_EQ(library->path(), "libm.so.6");
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(library->load(cosine, "cosinus").error().code, Code::kUnsupported);
}

TEST(SharedLibrary, NamesEachCandidateAndWhatWasWrongWithIt) {
  const std::vector<std::string> candidates{"libcupel-none.so.13", "/etc/hostname"};

  const auto library = SharedLibrary::open(candidates);

  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, Code::kNotFound);
  EXPECT_THAT(library.error().what,
              AllOf(HasSubstr("libcupel-none.so.13"), HasSubstr("; /etc/hostname")));
}

TEST(SharedLibrary, ClosesACandidateThatDoesNotFit) {
  constexpr auto kOfTheCLibrary = "libanl.so.1";  // no test needs it
  ASSERT_FALSE(is_loaded(kOfTheCLibrary));
  const std::vector<std::string> candidates{kOfTheCLibrary};

  const auto library = SharedLibrary::open(candidates, [](const SharedLibrary& found) {
    return Result<void>{Error{Code::kUnsupported, found.path() + " is too old"}};
  });

  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().what, HasSubstr("is too old"));
  EXPECT_FALSE(is_loaded(kOfTheCLibrary));
}

TEST(Nvml, ALibraryThatIsNotNvmlIsNotUsed) {
  const nvml::Library library{"libm.so.6"};

  EXPECT_FALSE(library.works());
  EXPECT_THAT(library.why(), HasSubstr("nvmlInit_v2"));
}

TEST(Nvml, FindsADeviceByItsPciAddress) {
  const nvml::Library library{FAKE_NVML_WHOLE};

  const auto third = library.device_at("0000:52:00.0").value;
  ASSERT_TRUE(third);
  EXPECT_EQ(library.index(*third).value, 2);
  EXPECT_FALSE(library.device_at("0000:ff:00.0").value);
}

}  // namespace
}  // namespace cupel::agent
