"""ClickHouse folds texts exactly as the words of a search are folded."""

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.stores.queries.searched_texts import folded_sql, without_accents


async def test_statement_and_words_fold_every_character_alike(migrated_client: AsyncClient) -> None:
    # Surrogates are no characters, and no stored text holds a zero.
    letters = [chr(code) for code in (*range(1, 0xD800), *range(0xE000, 0x1_1000), *range(0x1_D400, 0x1_FB00))]
    texts = ["".join(letters[begin : begin + 500]) for begin in range(0, len(letters), 500)]
    statement = f"SELECT arrayMap(text -> {folded_sql('text')}, {{texts:Array(String)}})"
    for begin in range(0, len(texts), 5):
        part = texts[begin : begin + 5]
        result = await migrated_client.query(statement, parameters={"texts": part})
        assert result.result_rows[0][0] == [without_accents(text) for text in part]
