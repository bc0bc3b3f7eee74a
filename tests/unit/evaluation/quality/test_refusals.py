"""Refusals in thirteen languages are recognised, and answers that resemble them are not."""

import pytest

from workers.evaluation.quality.failure_signals import find_signals, is_refusal
from workers.evaluation.thresholds import QualityThresholds

REFUSALS = {
    "en": [
        "I'm sorry, but I don't have enough information to answer this question.",
        "I apologize, but I cannot find that.",
        "Unfortunately, I'm unable to help with that request.",
        "I can't answer that based on the documents provided.",
        "Sorry, but the provided context does not contain the answer.",
        "I do not know the answer to your question.",
        "I regret that I cannot provide this information.",
        "As an AI, I am not able to comment on this.",
        "That is beyond the scope of what I can help with.",
        "There is no information about this in the provided sources.",
    ],
    "de": [
        "Es tut mir leid, aber dazu kann ich nichts sagen.",
        "Leider kann ich diese Frage nicht beantworten.",
        "Ich habe dazu keine Informationen gefunden.",
        "Die Dokumente enthalten dazu keine Angaben.",
        "Dabei kann ich Ihnen leider nicht helfen.",
        "Ich habe nicht genug Informationen, um das zu beantworten.",
    ],
    "fr": [
        "Désolé, mais je ne dispose pas de suffisamment d'informations pour répondre.",
        "Je ne peux malheureusement pas vous aider.",
        "Les documents fournis ne contiennent pas cette information.",
        "Je n'ai pas trouvé la réponse.",
        "Je ne suis pas en mesure de répondre à cette question.",
        "Je regrette, mais je ne sais pas.",
    ],
    "es": [
        "Lo siento, pero no tengo suficiente información para responder.",
        "No puedo ayudarte con eso.",
        "Los documentos no contienen esa información.",
        "No he encontrado la respuesta en las fuentes.",
        "Lamentablemente, no me es posible responder a esta pregunta.",
        "Perdón, pero no sé la respuesta.",
    ],
    "pt": [
        "Desculpe, mas não tenho informações suficientes para responder.",
        "Infelizmente, não posso ajudar com isso.",
        "Os documentos fornecidos não contêm essa informação.",
        "Não encontrei a resposta nas fontes.",
        "Lamento, mas não sei responder.",
        "Não consigo responder a essa pergunta.",
    ],
    "it": [
        "Mi dispiace, ma non ho abbastanza informazioni per rispondere.",
        "Purtroppo non posso aiutarti con questa richiesta.",
        "I documenti forniti non contengono questa informazione.",
        "Non ho trovato la risposta nelle fonti.",
        "Spiacente, ma non so rispondere a questa domanda.",
        "Non sono in grado di rispondere.",
    ],
    "nl": [
        "Sorry, maar ik kan deze vraag niet beantwoorden.",
        "Helaas kan ik u daar niet mee helpen.",
        "De documenten bevatten hierover geen informatie.",
        "Het spijt me, ik heb niet genoeg informatie om dit te beantwoorden.",
        "Ik weet het antwoord niet.",
        "Ik kon het antwoord niet vinden in de bronnen.",
    ],
    "pl": [
        "Przepraszam, ale nie mogę odpowiedzieć na to pytanie.",
        "Niestety nie jestem w stanie w tym pomóc.",
        "Dokumenty nie zawierają takiej informacji.",
        "Nie mam wystarczających informacji, aby odpowiedzieć.",
        "Przykro mi, ale nie znam odpowiedzi.",
        "Nie znalazłem odpowiedzi w podanych źródłach.",
    ],
    "ru": [
        "К сожалению, я не могу ответить на этот вопрос.",
        "Извините, но я не могу вам с этим помочь.",
        "В предоставленных документах нет информации об этом.",
        "У меня недостаточно информации для ответа.",
        "Простите, я не знаю ответа на этот вопрос.",
        "Мне не удалось найти ответ в источниках.",
    ],
    "ja": [
        "申し訳ありませんが、その質問にはお答えできません。",
        "すみませんが、お手伝いすることはできません。",
        "提供された文書にはその情報が記載されていません。",
        "十分な情報がないため、回答できません。",
        "残念ながら、わかりません。",
        "該当する情報は見つかりませんでした。",
    ],
    "zh": [
        "抱歉，我无法回答这个问题。",
        "很遗憾，我不能提供这方面的帮助。",
        "提供的文档中没有提到这一点。",
        "我没有足够的信息来回答。",
        "对不起，我不知道答案。",
        "我没有在资料中找到相关内容。",
    ],
    "ko": [
        "죄송하지만 그 질문에는 답변할 수 없습니다.",
        "죄송합니다. 도와드릴 수 없습니다.",
        "제공된 문서에는 해당 정보가 없습니다.",
        "답변하기에 정보가 충분하지 않습니다.",
        "잘 모르겠습니다.",
        "자료에서 답을 찾을 수 없습니다.",
    ],
    "ar": [
        "آسف، لا أستطيع الإجابة على هذا السؤال.",
        "للأسف لا يمكنني مساعدتك في ذلك.",
        "الوثائق المقدمة لا تحتوي على هذه المعلومات.",
        "ليس لدي معلومات كافية للإجابة.",
        "عذرا، لا أعرف الجواب.",
        "لم أجد الإجابة في المصادر.",
    ],
}

ANSWERS = {
    "en": [
        "I'm sorry to hear that, but the refund takes 14 days [1].",
        "Sorry for the delay: the pump cannot run without oil, and it holds 4 litres.",
        "The manual does not mention a limit, but the data sheet states 40 bar.",
        "Customers who cannot find the form can call the office on weekdays.",
        "You cannot cancel the contract after delivery.",
        "The board declined to comment on the figures; the report gives 12 million.",
    ],
    "de": [
        "Leider ist der Aufzug bis Freitag außer Betrieb; die Treppe ist offen.",
        "Der Vertrag kann nach der Lieferung nicht gekündigt werden.",
        "Wer keine Antwort findet, kann das Büro anrufen: montags bis freitags von 9 bis 17 Uhr.",
    ],
    "fr": [
        "Malheureusement, le musée est fermé le lundi ; il ouvre mardi à 10 heures.",
        "Le contrat ne peut pas être résilié après la livraison.",
        "Les clients qui ne trouvent pas la réponse peuvent appeler le bureau.",
    ],
    "es": [
        "Lamentablemente, el museo está cerrado los lunes; abre el martes a las 10.",
        "El contrato no se puede cancelar después de la entrega.",
        "El motor no puede funcionar sin aceite.",
    ],
    "pt": [
        "Infelizmente, o museu está fechado à segunda-feira; abre na terça às 10 horas.",
        "O contrato não pode ser cancelado após a entrega.",
        "A bomba não funciona sem óleo.",
    ],
    "it": [
        "Purtroppo il museo è chiuso il lunedì; apre martedì alle 10.",
        "Il contratto non può essere disdetto dopo la consegna.",
        "La pompa non può funzionare senza olio.",
    ],
    "nl": [
        "Helaas is het museum op maandag gesloten; het opent dinsdag om 10 uur.",
        "Het contract kan na levering niet worden opgezegd.",
        "De pomp kan niet zonder olie draaien.",
    ],
    "pl": [
        "Niestety muzeum jest w poniedziałek zamknięte; otwiera się we wtorek o 10.",
        "Umowy nie można rozwiązać po dostawie.",
        "Pompa nie może pracować bez oleju.",
    ],
    "ru": [
        "К сожалению, музей по понедельникам закрыт; он открывается во вторник в 10 часов.",
        "Договор нельзя расторгнуть после поставки.",
        "Насос не может работать без масла.",
    ],
    "ja": [
        "残念ながら、博物館は月曜日は休館です。火曜日の10時に開館します。",
        "契約は納品後に解約できません。",
        "ポンプは油なしでは動きません。",
    ],
    "zh": [
        "很遗憾，博物馆星期一闭馆，星期二上午十点开门。",
        "合同在交货后不能解除。",
        "水泵没有油就不能运转。",
    ],
    "ko": [
        "아쉽게도 박물관은 월요일에 휴관하며 화요일 10시에 문을 엽니다.",
        "계약은 납품 후에 해지할 수 없습니다.",
        "펌프는 오일 없이 작동할 수 없습니다.",
    ],
    "ar": [
        "للأسف المتحف مغلق يوم الاثنين ويفتح يوم الثلاثاء في الساعة العاشرة.",
        "لا يمكن إلغاء العقد بعد التسليم.",
        "لا تعمل المضخة بدون زيت.",
    ],
}


def refused(text: str) -> bool:
    return is_refusal(find_signals(text, QualityThresholds()))


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in REFUSALS.items() for text in texts])
def test_a_refusal_is_recognised(language: str, text: str) -> None:
    assert refused(text)


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in ANSWERS.items() for text in texts])
def test_an_answer_with_the_words_of_a_refusal_is_none(language: str, text: str) -> None:
    assert not refused(text)
