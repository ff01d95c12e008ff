#include "burnin/job_numbers.h"

#include <gmock/gmock.h>

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JobNumbers, AreThoseOfTheLastLineThatIsNotBlank) {
  const auto found =
      parse_job_numbers("{\"old\": 1}\nlog\n  {\"busbw\": 391.5, \"a-b.c_D\": -2}\r\n \n").value();

  EXPECT_THAT(found.measurements, ElementsAre(Measurement{.name = "job.busbw", .value = 391.5},
                                              Measurement{.name = "job.a-b.c_D", .value = -2}));
}

TEST(JobNumbers, AreNoneWhereTheLineIsNoObjectOfNumbers) {
  for (const auto* text :
       {"391.5", "[391.5]", "{}", "{\"a\": null}", "{\"a\": \"1\"}", "{\"a\": true}",
        "{\"a\": {\"b\": 1}}", "{\"a b\": 1}", "{\"\": 1}", "{\"a\": 1e999}", "{\"a\": NaN}",
        "{\"a\": 1} trailing", "{\"a\": 1", "\xff\xfe"})
    EXPECT_EQ(parse_job_numbers(text).error().code, Code::kMalformed) << text;
  for (const auto* nothing : {"", "\n \n\t\n"})
    EXPECT_EQ(parse_job_numbers(nothing).error().code, Code::kNoMeasurement);
}

TEST(JobNumbers, ErrorsNameTheNumberAndShowTheLineWithoutItsControlCharacters) {
  EXPECT_EQ(parse_job_numbers("{\"busbw\": \"fa\x7fst\"}").error().what,
            "the job's last line is not one JSON object of numbers: 'busbw' is no number: "
            "{\"busbw\": \"fast\"}");
}

TEST(JobNumbers, AreBounded) {
  std::string many = "{\"a\": 1";
  for (int i = 0; i < 256; ++i) many += ", \"n" + std::to_string(i) + "\": 1";
  EXPECT_THAT(parse_job_numbers(many + "}").error().what,
              HasSubstr("257 numbers, and 1 to 256 can be"));
  EXPECT_FALSE(parse_job_numbers("{\"" + std::string(65, 'a') + "\": 1}"));
  EXPECT_TRUE(parse_job_numbers("{\"" + std::string(64, 'a') + "\": 1}"));
}

TEST(JobNumbers, HaveNamesThatCriteriaCanSay) {
  EXPECT_TRUE(is_job_measure("job.busbw"));
  EXPECT_TRUE(is_job_measure("job.hpl.tflops"));
  for (const auto* name : {"", "job.", "busbw", "job.a b", "jobs.busbw"})
    EXPECT_FALSE(is_job_measure(name)) << name;
}

}  // namespace
}  // namespace cupel::burnin
