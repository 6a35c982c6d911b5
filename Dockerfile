# The screens over an archive in /archive, which is ingested by the same image:
#   docker run --rm -v archive:/archive -v ./manuals:/manuals:ro counterpoint \
#     python -m indexer ingest /manuals
#   docker run -p 8501:8501 -v archive:/archive counterpoint
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends tesseract-ocr tesseract-ocr-spa \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 10001 counterpoint \
    && mkdir /archive && chown counterpoint /archive
WORKDIR /srv/counterpoint
COPY requirements.lock ./
RUN pip install --no-cache-dir torch==2.13.0 -r requirements.lock
COPY . .

USER counterpoint
ENV COUNTERPOINT_ARCHIVE=/archive PYTHONUNBUFFERED=1
VOLUME /archive
EXPOSE 8501
HEALTHCHECK CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://localhost:8501/_stcore/health', timeout=5)"]
CMD ["python", "-m", "app", "serve", "--address", "0.0.0.0"]
