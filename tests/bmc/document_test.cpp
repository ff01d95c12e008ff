// JSON that was made to cost memory and time costs neither.
#include "bmc/redfish/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/for_each_of.h"
#include "tests/bmc/fixture.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kBytes = 4u << 20;

std::string repeated(std::string_view piece, std::string_view begin, std::string_view end) {
  std::string text{begin};
  while (text.size() + 2 * piece.size() + end.size() < kBytes) text.append(piece) += ',';
  return text.append(piece).append(end);
}

std::string many_keys() {
  std::string text = "{\"a\":0";
  for (int i = 0; text.size() < kBytes; ++i) text += ",\"k" + std::to_string(i) + "\":1";
  return text + "}";
}

std::vector<std::string> hostile() {
  return {repeated("1", "[", "]"), repeated("[]", "[", "]"), repeated("{\"a\":1}", "[", "]"),
          repeated("\"\"", "{\"x\":[", "]}"), many_keys()};
}

TEST(Document, RefusesMoreValuesThanAnyMachineHasBeforeItBuildsThem) {
  const auto memory = std::make_shared<MemoryUse>();
  for (const auto& text : hostile()) {
    const auto refused = document_of(text, memory);

    ASSERT_FALSE(refused) << text.substr(0, 40);
    EXPECT_EQ(refused.error().code, Code::kMalformed);
    EXPECT_EQ(memory->used(), 0);
  }
  EXPECT_LT(memory->most(), 24u << 20);
}

TEST(Document, CountsWhatItTakesUntilItGoes) {
  const auto memory = std::make_shared<MemoryUse>();
  {
    const auto document =
        document_of(R"({"Members": [1, 2, 3], "Name": "a text of some length"})", memory);
    ASSERT_TRUE(document);
    EXPECT_GT(memory->used(), 100);
  }

  EXPECT_EQ(memory->used(), 0);
  EXPECT_GT(memory->most(), 100);
}

TEST(Document, RefusesADocumentForWhichThereIsNoRoomBesideTheOthers) {
  const auto memory = std::make_shared<MemoryUse>(1u << 20);
  const std::string text = "{\"x\": \"" + std::string(300u << 10, 'x') + "\"}";
  const auto first = document_of(text, memory);

  const auto second = document_of(text, memory);

  ASSERT_TRUE(first);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, ::testing::HasSubstr("more memory than one BMC may"));
}

TEST(Document, CountsNoCommasWithinTexts) {
  const std::string text = "[\"" + std::string(kMostValues * 2, ',') + R"(\",[{:"])";

  EXPECT_TRUE(document_of(text));
}

TEST(Document, LetsOthersHaveTheLoopWhileItReads) {
  std::string text = "[";
  while (text.size() < 20 * kPieceOfDocument) text += "\"" + std::string(1000, 'x') + "\",";
  text += "0]";
  asio::io_context io{1};
  int turns = 0;
  bool over = false;
  const auto reading = [&]() -> Task<Result<void>> {
    const auto document = co_await read_document(text, nullptr);
    over = true;
    if (!document) co_return document.error();
    co_return ok();
  };
  const auto counting = [&]() -> Task<Result<void>> {
    while (!over) {
      ++turns;
      CO_TRY(co_await pause_for(0ms));
    }
    co_return ok();
  };

  const auto each = [&](int which) { return which == 0 ? reading() : counting(); };
  const auto done = run_to_end(io, for_each_of<void>(std::vector{0, 1}, 2, each));

  EXPECT_TRUE(done[0]);
  EXPECT_GE(turns, 10);
}

/// The Model of a document of this text, within.
std::string model_in(std::string_view text) {
  const auto document = document_of(text);
  if (!document) return "(" + document.error().what + ")";
  EXPECT_EQ(text_at(*document, "SerialNumber"), "A1");
  return text_at(*document, "Model").value_or("");
}

TEST(Document, IsReadButForAByteThatIsNoUtf8) {
  EXPECT_EQ(model_in("{\"Model\": \"R\xE9my\", \"SerialNumber\": \"A1\"}"), "R\uFFFDmy");
  EXPECT_EQ(model_in("{\"Model\": \"cut \xE2\x82\", \"SerialNumber\": \"A1\"}").substr(0, 4),
            "cut ");
}

// HPE iLO 6 1.75: a raw carriage return within a text.
TEST(Document, IsReadButForRawControlCharactersInTexts) {
  EXPECT_EQ(model_in("{\r\n\t\"Model\": \"a\rb\x01"
                     "c\nd\",\r\n\"SerialNumber\": \"A1\"}"),
            "a b c d");
}

TEST(Document, IsReadBehindAByteOrderMark) {
  EXPECT_EQ(model_in("\xEF\xBB\xBF{\"Model\": \"X\", \"SerialNumber\": \"A1\"}"), "X");
}

TEST(Document, KeepsALetterThatFallsBetweenTwoPieces) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string name(shift, 'x');
    while (name.size() < 3 * kPieceOfDocument) name += "€";
    const std::string text = "{\"a\": \"" + name + "\", \"bad\": \"\xFF\"}";
    asio::io_context io{1};

    const auto document = run_to_end(io, read_document(text, nullptr));

    ASSERT_TRUE(document) << document.error().what;
    EXPECT_EQ(text_at(*document, "a"), name);
  }
}

class HostileBmc : public OverHttps {
 protected:
  HostileBmc() {
    server.change([](auto& options) {
      options.last_word = [](test::Exchanged& now) {
        if (now.path.find("/Systems") != now.path.npos) now.answer = many_keys();
      };
    });
  }
};

TEST_F(HostileBmc, TakesNoMoreMemoryThanOneBmcMay) {
  const auto bmc = open();

  for (int i = 0; i < 3; ++i) {
    const auto seen = run(bmc->facts.observe(soon()));
    EXPECT_FALSE(seen && seen->unknown.empty());
  }

  const auto& memory = *transport.bmc_limits("a01-n01").memory;
  EXPECT_LE(memory.most(), memory.limit());
  EXPECT_EQ(memory.used(), 0);
  run(bmc->log_out());
}

TEST_F(HostileBmc, IsCutOffAtTheLimitOfOneAnswer) {
  server.change([](auto& options) {
    options.last_word = [](test::Exchanged& now) {
      if (now.path.find("/Systems") != now.path.npos) now.answer = std::string(5u << 20, ' ');
    };
  });
  auto one = client();

  const auto refused = run(one.get("/redfish/v1/Systems", soon()));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("more than 4194304 bytes"));
  run(one.log_out());
}

}  // namespace
}  // namespace cupel::bmc::redfish
